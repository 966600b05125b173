import Testing

@testable import PawlBase
@testable import PawlJournal
@testable import PawlResumeData

/// The rules R1–R7, and D3 in their sum.
@Suite struct AppleResumeDataTests {
    private let wanted = AppleRequest(address: ResumeFixture.address, headers: ResumeFixture.headers)

    @Test(arguments: ResumeFixture.allCases) func `R1 D3 the format of each version of iOS is parsed`(
        _ fixture: ResumeFixture
    ) throws {
        let data = try AppleResumeData(fixture.bytes)
        #expect(data.address == ResumeFixture.address)
        #expect(data.received == 70_000)
        #expect(data.entityTag == "\"v1\"")
        #expect(data.serverDate == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(data.validators.entityTag == EntityTag(opaque: "v1", isWeak: false))
        #expect(data.validators.lastModified == UnixTime(seconds: 784_111_777))
        #expect(data.partialName == ResumeFixture.name)
        #expect(data.version == fixture.version)
        #expect(data.currentRequest == wanted)
        #expect(data.originalRequest == wanted)
    }

    @Test(arguments: ResumeFixture.allCases) func `D3 a written value is read back the same`(
        _ fixture: ResumeFixture
    ) throws {
        let data = try AppleResumeData(fixture.bytes)
        let again = try AppleResumeData(data.bytes)
        #expect(again.bytes == data.bytes)
        #expect(again.repairs.isEmpty)
        #expect(again.currentRequest == wanted)
        #expect(again.received == data.received && again.partialName == data.partialName)
    }

    @Test func `R1 an archive whose root is called root is parsed too`() throws {
        var list = try #require(ResumeFixture.archived(ResumeFixture.twelve.fields).dictionary)
        list["$top"] = .dictionary(["root": .reference(1)])
        for bytes in [PropertyList.dictionary(list).bytes, ResumeFixture.xml(.dictionary(list))] {
            #expect(try AppleResumeData(bytes).currentRequest == wanted)
        }
    }

    @Test(arguments: [
        ("", "not a property list"), ("hello", "not a property list"), ("bplist00", "damaged"),
        ("<plist><string>x</string></plist>", "no dictionary"), ("<plist><dict/></plist>", "no URL"),
        (
            "<plist><dict><key>NSURLSessionDownloadURL</key><string>http://a/</string></dict></plist>",
            "count of received bytes"
        ), ("<html><body>", "not a property list"),
    ]) func `R1 anything else is not resumable, with the reason`(_ text: String, _ reason: String) {
        let fault = #expect(throws: PropertyList.Fault.self) { try AppleResumeData(Array(text.utf8)) }
        #expect(fault?.words.contains(reason) == true)
    }

    @Test func `R2 a request that iOS 10 broke is repaired for the next reader`() throws {
        let broken = ResumeFixture.request(isBroken: true)
        let archive = try #require(RequestArchive(broken))
        #expect(archive.isRepaired)
        #expect(archive.bytes == ResumeFixture.request(isBroken: false))
        let data = try AppleResumeData(ResumeFixture.tenBroken.bytes)
        #expect(data.repairs == [.request])
        let outer = try PropertyList(data.bytes).dictionary
        let kept = ResumeFixture.request(isBroken: false)
        #expect(outer?["NSURLSessionResumeCurrentRequest"]?.data == kept)
        #expect(outer?["NSURLSessionResumeOriginalRequest"]?.data == kept)
    }

    @Test func `R2 a valid request is left as it is`() throws {
        #expect(try AppleResumeData(ResumeFixture.nine.bytes).repairs.isEmpty)
        let outer = try PropertyList(AppleResumeData(ResumeFixture.nine.bytes).bytes).dictionary
        #expect(outer?["NSURLSessionResumeCurrentRequest"]?.data == ResumeFixture.request(isBroken: false))
    }

    @Test func `R2 an empty request is replaced by a plain one`() throws {
        var fields = ResumeFixture.nine.fields
        fields["NSURLSessionResumeCurrentRequest"] = .data([1, 2, 3])
        let data = try AppleResumeData(ResumeFixture.xml(.dictionary(fields)))
        #expect(data.repairs == [.lostRequest])
        #expect(data.currentRequest == AppleRequest(address: ResumeFixture.address))
        #expect(data.originalRequest == wanted)
    }

    @Test(arguments: [
        (AppleResumeData.System(major: 10, minor: 3), false), (.init(major: 11, minor: 0), true),
        (.init(major: 11, minor: 2), true), (.init(major: 11, minor: 3), false), (.init(major: 12, minor: 0), false),
        (nil, true),
    ]) func `R3 the byte range of iOS 11_0 up to 11_2 is dropped`(
        _ system: AppleResumeData.System?, _ drops: Bool
    ) throws {
        let data = try AppleResumeData(ResumeFixture.elevenRange.bytes, madeBy: system)
        #expect(data.byteRange == (drops ? nil : "70000-140000"))
        #expect(data.repairs == (drops ? [.byteRange] : []))
        #expect(data.received == 70_000)
    }

    @Test func `R3 a byte range in a later form stays`() throws {
        let bytes = ResumeFixture.archived(ResumeFixture.elevenRange.fields).bytes
        #expect(try AppleResumeData(bytes).byteRange == "70000-140000")
    }

    @Test(
        arguments: [
            (1, nil, "/old/launch/tmp/a.tmp", "a.tmp"), (2, "b.tmp", "/old/a.tmp", "b.tmp"),
            (1, "b.tmp", "/x/a.tmp", "a.tmp"), (4, nil, "/old/a.tmp", "a.tmp"), (2, "../../etc/passwd", nil, "passwd"),
            (2, "..", nil, nil), (1, "/", "/", nil), (2, "a\u{0}b", nil, nil), (2, nil, nil, nil),
            (nil, "b.tmp", nil, "b.tmp"), (nil, nil, "/x/a.tmp", "a.tmp"),
        ] as [(Int64?, String?, String?, String?)]) func `R4 the part file is known by its name alone`(
            _ version: Int64?, _ name: String?, _ path: String?, _ wanted: String?
        ) throws
    {
        var fields = ResumeFixture.nine.fields
        fields["NSURLSessionResumeInfoVersion"] = version.map { .integer($0) }
        fields["NSURLSessionResumeInfoTempFileName"] = name.map { .string($0) }
        fields["NSURLSessionResumeInfoLocalPath"] = path.map { .string($0) }
        #expect(try AppleResumeData(PropertyList.dictionary(fields).bytes).partialName == wanted)
    }

    @Test(
        arguments: [
            (70_000, nil, .partial, 70_000), (90_000, 80_000, .partial, 70_000), (69_999, nil, .nothing, 0),
            (nil, nil, .nothing, 0), (nil, 0, .nothing, 0), (nil, 50_000, .safeCopy, 50_000),
            (100, 80_000, .safeCopy, 80_000),
        ] as [(Int64?, Int64?, AppleResumeData.Supply, Int64)])
    func `R5 a part file that is missing or too short is replaced by the backup copy`(
        _ partial: Int64?, _ copy: Int64?, _ supply: AppleResumeData.Supply, _ received: Int64
    ) throws {
        var data = try AppleResumeData(ResumeFixture.nine.bytes)
        let found = data.supply(partialLength: partial, safeCopyLength: copy)
        #expect(found == supply)
        #expect(data.received == received)
        #expect(try AppleResumeData(data.bytes).received == received)
    }

    @Test func `R6 an error without resume data never erases older good data`() {
        let (old, new) = (ResumeFixture.eight.bytes, ResumeFixture.twelve.bytes)
        #expect(AppleResumeData.better(of: nil, than: old) == old)
        #expect(AppleResumeData.better(of: [], than: old) == old)
        #expect(AppleResumeData.better(of: [1, 2], than: old) == old)
        #expect(AppleResumeData.better(of: new, than: old) == new)
        #expect(AppleResumeData.better(of: new, than: nil) == new)
        #expect(AppleResumeData.better(of: nil, than: nil) == nil)
    }

    @Test(arguments: ResumeFixture.allCases) func `R7 a changed URL and changed headers are written everywhere`(
        _ fixture: ResumeFixture
    ) throws {
        var data = try AppleResumeData(fixture.bytes)
        data.change(address: "https://cdn.example/films/1.mp4?token=new")
        var request = AppleRequest(address: "https://cdn.example/films/1.mp4?token=new", headers: wanted.headers)
        #expect(data.currentRequest == request)
        request.headers = ["Authorization": "Bearer x"]
        data.change(address: request.address, headers: request.headers)
        let again = try AppleResumeData(data.bytes)
        #expect(again.address == request.address)
        #expect(again.currentRequest == request)
        #expect(again.originalRequest == request)
        #expect(again.received == 70_000 && again.entityTag == "\"v1\"")
    }

    @Test func `R7 fields of a request that Pawl does not know stay`() throws {
        var archive = try #require(RequestArchive(ResumeFixture.request(isBroken: false)))
        let request = AppleRequest(address: "http://b.example/", headers: ["A": "b"])
        let isChanged = archive.change(request)
        #expect(isChanged)
        let objects = try PropertyList(archive.bytes).dictionary?["$objects"]?.array
        let fields = try #require(objects?[1].dictionary)
        #expect(fields["$0"] == .integer(9) && fields["$3"] == .real(60) && fields["$8"] == .integer(77))
    }

    @Test func `R7 headers where there were none, and none where there were some`() throws {
        var data = AppleResumeData(AppleRequest(address: "http://a.example/"), received: 5, partialName: "x.tmp")
        data.change(address: "http://a.example/", headers: ["A": "b"])
        #expect(data.currentRequest?.headers == ["A": "b"])
        data.change(address: "http://a.example/", headers: [:])
        #expect(data.originalRequest?.headers == [:])
    }

    @Test func `D3 resume data made by Pawl records what it was made from`() throws {
        let request = AppleRequest(address: "http://a.example/x", method: "GET", headers: ["A": "b", "C": "d"])
        var made = AppleResumeData(request, received: 9, partialName: "x.part")
        made.entityTag = "W/\"weak\""
        made.serverDate = "Sun, 06 Nov 1994 08:49:37 GMT"
        let read = try AppleResumeData(made.bytes)
        #expect(read == made)
        #expect(read.originalRequest == request && read.currentRequest == request)
        #expect(read.validators.entityTag == EntityTag(opaque: "weak", isWeak: true))
        #expect(read.partialName == "x.part" && read.version == 2 && read.repairs.isEmpty)
    }

    @Test(arguments: [true, false]) func `validators are those of the last request, where a redirect led to`(
        isRedirected: Bool
    ) throws {
        let address = ResumeFixture.address
        let target = isRedirected ? "http://other.example/film" : address
        var fields = ResumeFixture.nine.fields
        fields["NSURLSessionResumeCurrentRequest"] = .data(RequestArchive(AppleRequest(address: target)).bytes)
        let data = try AppleResumeData(ResumeFixture.xml(.dictionary(fields)))
        #expect(data.address == address)
        let records = data.representation(of: try WebAddress.parse(address).address).records
        #expect(records.map(\.source) == [try WebAddress.parse(target).address.text])
    }
}
