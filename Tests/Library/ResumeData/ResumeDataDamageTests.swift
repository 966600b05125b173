import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlJournal
@testable import PawlResumeData
@testable import PawlSystem
@testable import PawlXML

/// Resume data with wrong bytes: an error or a value, never a crash or a hang.
@Suite struct ResumeDataDamageTests {
    @Test(arguments: ResumeFixture.allCases)
    func `R1 damaged resume data is refused or parsed, and a parsed value can be written`(
        _ fixture: ResumeFixture
    ) throws {
        var dice = Dice(seed: 7)
        let request = try #require(fixture.fields["NSURLSessionResumeCurrentRequest"]?.data)
        var (read, refused) = (0, 0)
        for _ in 0..<120 {
            var fields = fixture.fields
            // Half of the time the damage is in the request, which another parser reads.
            if Bool.random(using: &dice) {
                fields["NSURLSessionResumeCurrentRequest"] = .data(damaged(request, &dice))
                try use(PropertyList.dictionary(fields).bytes)
                read += 1
            } else {
                do throws(PropertyList.Fault) {
                    try use(
                        damaged(
                            Bool.random(using: &dice) ? fixture.bytes : PropertyList.dictionary(fields).bytes, &dice))
                    read += 1
                } catch {
                    #expect(!error.words.isEmpty)
                    refused += 1
                }
            }
        }
        #expect(read > 40 && refused > 5, "\(read) read, \(refused) refused")
    }

    @Test func `any truncation of resume data is refused or parsed`() throws {
        for fixture in [ResumeFixture.twelve, .eight] {
            let bytes = fixture.bytes
            for end in stride(from: 0, to: bytes.count, by: 7) {
                #expect(throws: PropertyList.Fault.self) { try use(Array(bytes[..<end])) }
            }
        }
    }

    @Test func `archives with cyclic references are parsed in time`() throws {
        let ring = PropertyList.dictionary([
            "$class": .reference(2), "NS.keys": .array(Array(repeating: .reference(3), count: 500)),
            "NS.objects": .array(Array(repeating: .reference(1), count: 500)),
        ])
        let url = PropertyList.dictionary([
            "$class": .reference(5), "NS.base": .reference(4), "NS.relative": .reference(3),
        ])
        func kind(_ name: String) -> PropertyList { .dictionary(["$classname": .string(name)]) }
        let objects = [ring, kind("NSDictionary"), .string("a"), url, kind("NSURL")]
        for root in 1...6 {
            var archive = KeyedArchive(objects: objects)
            archive.top["root"] = .reference(root)
            #expect(throws: PropertyList.Fault.self) { try AppleResumeData(archive.list.bytes) }
            _ = RequestArchive(archive.list.bytes)
        }
        #expect(KeyedArchive(objects: objects).plain(4) == .string("a"))
    }

    private func use(_ bytes: [UInt8]) throws(PropertyList.Fault) {
        var data = try AppleResumeData(bytes)
        _ = (data.validators, data.partialName, data.currentRequest, data.originalRequest)
        let written = data.bytes
        #expect((try? AppleResumeData(written))?.bytes == written)
        data.change(address: "http://b.example/", headers: ["A": "b"])
        #expect(data.currentRequest == data.originalRequest)
        #expect(
            data.originalRequest
                == AppleRequest(address: "http://b.example/", method: method(of: data), headers: ["A": "b"]))
    }

    private func method(of data: AppleResumeData) -> String { data.originalRequest?.method ?? "" }

    private func damaged(_ bytes: [UInt8], _ dice: inout Dice) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &dice) {
            let index = Int.random(in: 0..<bytes.count, using: &dice)
            switch Int.random(in: 0..<4, using: &dice) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &dice)
            case 1: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
            case 2: bytes.remove(at: index)
            default: bytes.insert(bytes[index], at: index)
            }
        }
        return bytes
    }
}
