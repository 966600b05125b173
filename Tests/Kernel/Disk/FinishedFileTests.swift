import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlDisk
@testable import PawlJournal

/// Finished files that record their origin.
@Suite struct FinishedFileTests {
    private static let source = "https://a.example/x"

    private func content(_ tag: String = "v1", source: String = source) -> ContentFingerprint? {
        let validators = Validators(entityTag: EntityTag(opaque: tag, isWeak: false))
        return ContentFingerprint(source: source, host: "http://a.example", selection: .whole, validators: validators)
    }

    @discardableResult private func finish(
        _ folder: TestFolder, journalled: Bool, modified: UnixTime? = UnixTime(seconds: 1_700_000_000)
    ) async throws -> String {
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        if journalled { try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 3000)])) }
        partial.remember(content())
        return try await partial.publish(length: 3000, modified: modified)
    }

    private func claim(
        _ folder: TestFolder, _ content: ContentFingerprint?, length: Int64? = 3000, _ ifExists: IfExists = .rename,
        source: String = source
    ) throws -> ClaimResult {
        var selection = Claim(
            folder: folder.path, name: "x.bin", ifExists: ifExists, facts: folder.facts("x.bin", from: source))
        selection.content = { content }
        selection.length = length
        return try folder.disk.claim(selection) { _ in false }
    }

    private func isThere(_ result: ClaimResult) -> Bool {
        switch result {
        case .skipped: return true
        case .fresh(let partial), .found(let partial, _), .existing(let partial, _):
            partial.discard()
            return false
        }
    }

    @Test(arguments: [253_402_300_799, 18_446_744_074, 9_223_372_036])
    func `a time that nanoseconds or the file system cannot represent does not keep a file from being found`(
        _ seconds: Int64
    ) async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: true, modified: UnixTime(seconds: seconds))
        #expect(try isThere(claim(folder, content())))
        #expect(folder.names == ["x.bin"])
    }

    @Test(arguments: [true, false], ["/tmp", "/dev/shm"])
    func `a finished file of the same content of the same URL is found`(journalled: Bool, parent: String) async throws {
        let folder = TestFolder(in: parent)
        try await finish(folder, journalled: journalled)
        folder.restart()
        #expect(folder.disk.wasFinished("x.bin", from: Self.source, in: folder.path))
        #expect(try isThere(claim(folder, content())))
        #expect(try isThere(claim(folder, content(), length: nil)))
        #expect(folder.names == ["x.bin"])
    }

    @Test func `a response that proves a finished file renews its mark where a listing's time would hide a change`()
        async throws
    {
        let folder = TestFolder()
        try await finish(folder, journalled: false, modified: nil)
        func status() throws -> FileStatus {
            try #require(try folder.disk.folders.open(folder.path).status(of: "x.bin"))
        }
        var facts = ListedFacts(source: Self.source, content: nil)
        facts.length = 3000
        // The listing's time is that of the second in which the file was finished.
        let finished = try status()
        facts.modified = UnixTime(seconds: finished.modifiedTime / 1_000_000_000)
        #expect(folder.disk.listedFile("x.bin", in: folder.path, facts) == .perhapsOutdated(finished.stamp))
        // Only a change after that second is shown by the listing's time: until it is over, nothing proves more.
        var end = timespec(tv_sec: Int(finished.changed / 1_000_000_000) + 3, tv_nsec: 0)
        while unsafe clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, nil) == EINTR {}
        var request = Claim(
            folder: folder.path, name: "x.bin", ifExists: .overwrite, facts: folder.facts("x.bin", from: Self.source))
        request.replaces = ReplacedFile(finished.stamp)
        request.content = { [other = content("v2")] in other }
        #expect(folder.disk.finished(request) == nil)
        #expect(try status().changed == finished.changed)
        request.content = { [same = content()] in same }
        #expect(folder.disk.finished(request) == "\(folder.path)/x.bin")
        #expect(try status().changed > finished.changed && status().modifiedTime == finished.modifiedTime)
        #expect(folder.disk.listedFile("x.bin", in: folder.path, facts) == .unchanged(isProven: false))
        #expect(folder.names == ["x.bin"])
    }

    @Test func `a finished file whose mark is renewed by a claim is not created anew, and an old mark stays`()
        async throws
    {
        let folder = TestFolder()
        try await finish(folder, journalled: false)
        let before = try #require(try folder.disk.folders.open(folder.path).status(of: "x.bin"))
        var request = Claim(
            folder: folder.path, name: "x.bin", ifExists: .overwrite, facts: folder.facts("x.bin", from: Self.source))
        request.replaces = ReplacedFile(before.stamp)
        request.content = { [same = content()] in same }
        #expect(try isThere(folder.disk.claim(request) { _ in false }))
        #expect(try folder.disk.folders.open(folder.path).status(of: "x.bin")?.changed == before.changed)
    }

    @Test func `a mark on a file whose bytes are wrong proves nothing`() async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: false)
        let found = try #require(try folder.disk.folders.open(folder.path).status(of: "x.bin"))
        var request = Claim(
            folder: folder.path, name: "x.bin", ifExists: .overwrite, facts: folder.facts("x.bin", from: Self.source))
        request.content = { [same = content()] in same }
        for isWrong in [false, true] {
            request.replaces = ReplacedFile(found.stamp, isWrong: isWrong)
            #expect((folder.disk.finished(request) == nil) == isWrong)
        }
        #expect(try !isThere(folder.disk.claim(request) { _ in false }))
    }

    @Test func `behind a link is only a file that was there before its download`() async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: false)
        var file = FinishedFile(
            stamp: folder.disk.stamp(of: "x.bin", in: folder.path), length: 3000, sources: [Self.source])
        #expect(folder.disk.presence(of: file, as: "x.bin", in: folder.path) == .there)
        unsafe rename("\(folder.path)/x.bin", "\(folder.path)/moved")
        unsafe symlink("\(folder.path)/moved", "\(folder.path)/x.bin")
        #expect(folder.disk.presence(of: file, as: "x.bin", in: folder.path) == .other)
        file.wasThere = true
        #expect(folder.disk.presence(of: file, as: "x.bin", in: folder.path) == .there)
        // What it leads to is not deleted in its place.
        #expect(throws: Failure.self) { try folder.disk.remove("x.bin", in: folder.path, if: file) }
        #expect(folder.names == ["moved", "x.bin"])
    }

    /// The journal's name was made durable by a sync of the folder, and its content never was.
    @Test(arguments: [0, 4096]) func `an empty journal beside a complete file does not make it another one`(
        _ length: Int64
    ) async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 3000)]))
        let place = try #require(folder.disk.folders.existing(folder.path))
        try place.open(FileName.journal(of: "x.bin"), flags: O_RDWR).truncate(to: 0)
        try place.open(FileName.journal(of: "x.bin"), flags: O_RDWR).truncate(to: length)
        OwnerAttribute.complete(OwnerAttribute.value(of: Self.source), part: nil, length: 3000, on: partial.openFile)
        try place.rename(FileName.partial(of: "x.bin"), to: "x.bin", replacing: false)
        partial.release()
        folder.restart()
        #expect(try isThere(claim(folder, content())))
        #expect(folder.names == ["x.bin"])
    }

    @Test func `one without the server's time is recognized as well`() async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: false, modified: nil)
        #expect(try isThere(claim(folder, content())))
    }

    @Test func `other content, another length or another URL is saved under another name`() async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: true)
        let other = "https://b.example/x"
        #expect(try !isThere(claim(folder, content("v2"))))
        #expect(try !isThere(claim(folder, content(), length: 2999)))
        #expect(try !isThere(claim(folder, content(source: other), source: other)))
        #expect(try !isThere(claim(folder, nil)))
        #expect(!folder.disk.wasFinished("x.bin", from: other, in: folder.path))
        #expect(try folder.bytes(of: "x.bin") == payload(3000))
    }

    /// Fetches content without validators, as a download that finds no file to continue.
    private func fetch(
        _ folder: TestFolder, _ bytes: [UInt8], journalled: Bool, source: String = source,
        content: ContentFingerprint? = nil
    ) async throws -> String? {
        var selection = Claim(
            folder: folder.path, name: "x.bin", ifExists: .rename, facts: folder.facts("x.bin", from: source))
        selection.recognizesBytes = true
        selection.content = { content }
        guard case .fresh(let made) = try folder.disk.claim(selection, adopts: { _ in false }) else { return nil }
        let partial = try #require(made as? FilePartial)
        try partial.write(bytes, at: 0)
        if journalled {
            try partial.beginJournal(folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, Int64(bytes.count))]))
        }
        partial.remember(content)
        let path = try await partial.publish(length: Int64(bytes.count), modified: nil)
        return path.split(separator: "/").last.map(String.init)
    }

    @Test(arguments: [true, false], ["/tmp", "/dev/shm"])
    func `content without validators that is on disk already is not saved twice`(
        journalled: Bool, parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let bytes = payload(300_000)
        #expect(try await fetch(folder, bytes, journalled: journalled) == "x.bin")
        folder.restart()
        #expect(try await fetch(folder, bytes, journalled: journalled) == "x.bin")
        #expect(folder.names == ["x.bin"])
        let other = payload(300_000, seed: 9)
        #expect(try await fetch(folder, other, journalled: journalled) == "x (1).bin", "it has changed")
        #expect(try await fetch(folder, other, journalled: journalled) == "x (1).bin")
        let name = try await fetch(folder, bytes, journalled: journalled, source: "https://b.example/x")
        #expect(name == "x (2).bin", "of another URL")
        try folder.put(bytes, in: "x.bin")
        #expect(try await fetch(folder, bytes, journalled: journalled) == "x (3).bin", "somebody wrote to it")
        #expect(folder.names == ["x (1).bin", "x (2).bin", "x (3).bin", "x.bin"])
    }

    @Test(arguments: [true, false], ["/tmp", "/dev/shm"])
    func `the same bytes with other validators are not saved twice, and are recognized by these from then on`(
        journalled: Bool, parent: String
    ) async throws {
        let folder = TestFolder(in: parent)
        let bytes = payload(300_000)
        for tag in ["v1", "v2", "v3"] {
            let name = try await fetch(folder, bytes, journalled: journalled, content: content(tag))
            #expect(name == "x.bin", "fetched anew")
            #expect(try await fetch(folder, bytes, journalled: journalled, content: content(tag)) == nil)
            folder.restart()
        }
        let other = payload(300_000, seed: 9)
        let name = try await fetch(folder, other, journalled: journalled, content: content("v4"))
        #expect(name == "x (1).bin", "it has changed")
        #expect(folder.names == ["x (1).bin", "x.bin"])
    }

    @Test(arguments: [true, false]) func `so are they when a later run continues their part file`(
        _ isChosen: Bool
    ) async throws {
        let folder = TestFolder()
        let bytes = payload(3000)
        #expect(try await fetch(folder, bytes, journalled: true, content: content("v1")) == "x.bin")
        let partial = try folder.fresh("x.bin")
        #expect(partial.name == "x (1).bin")
        try partial.write(bytes, at: 0)
        try partial.close(keeping: folder.facts("x.bin"), done: ByteRangeSet([ByteRange(0, 3000)]))
        folder.restart()
        let name = try #require(folder.disk.unfinished(of: Self.source, in: folder.path))
        var selection = Claim(folder: folder.path, name: name, ifExists: .rename, facts: folder.facts(name))
        selection.recognizesBytes = true
        selection.isChosen = isChosen
        guard case .found(let made, _) = try folder.disk.claim(selection, adopts: { _ in false }) else {
            Issue.record("not found")
            return
        }
        let again = try #require(made as? FilePartial)
        again.remember(content("v2"))
        _ = try await again.publish(length: 3000)
        #expect(folder.names == (isChosen ? ["x (1).bin", "x.bin"] : ["x.bin"]))
    }

    @Test func `a file that was changed since is an ordinary file`() async throws {
        for change in 0..<3 {
            let folder = TestFolder()
            let path = try await finish(folder, journalled: true)
            switch change {
            case 0: #expect(unsafe truncate(path, 2999) == 0)
            case 1: try folder.put(payload(3000, seed: 9), in: "x.bin")
            default: #expect(unsafe utimes(path, nil) == 0)
            }
            #expect(!folder.disk.wasFinished("x.bin", from: Self.source, in: folder.path))
            #expect(try !isThere(claim(folder, content())))
        }
    }

    @Test func `a numbered name is found again`() async throws {
        let folder = TestFolder()
        try folder.put([1], in: "x.bin")
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        partial.remember(content())
        _ = try await partial.publish(length: 3000)
        #expect(folder.names == ["x (1).bin", "x.bin"])
        #expect(folder.disk.wasFinished("x.bin", from: Self.source, in: folder.path))
        #expect(try isThere(claim(folder, content())))
        #expect(folder.names == ["x (1).bin", "x.bin"])
    }

    @Test func `the ifExists policy applies to a complete file too`() async throws {
        let folder = TestFolder()
        try await finish(folder, journalled: true)
        let failure = #expect(throws: Failure.self) { try claim(folder, content(), .fail) }
        #expect(failure?.code == .fileExists)
        #expect(try !isThere(claim(folder, content(), .overwrite)))
        #expect(try isThere(claim(folder, nil, .skip)))
    }

    @Test func `without extended attributes nothing changes`() async throws {
        let folder = TestFolder { $0.marks = false }
        try await finish(folder, journalled: true)
        #expect(!folder.disk.wasFinished("x.bin", from: Self.source, in: folder.path))
        #expect(try !isThere(claim(folder, content())))
    }

    @Test func `killed before the end was reported, it belongs to this download alone`() async throws {
        let folder = TestFolder()
        let partial = try folder.fresh("x.bin")
        try partial.write(payload(3000), at: 0)
        partial.remember(content())
        let modified = try partial.openFile.status().modifiedTime
        let untold = CompletionMark(try #require(content()), length: 3000, modified: modified, isTold: false)
        OwnerAttribute.set(untold, on: partial.openFile)
        partial.release()
        #expect(unsafe rename("\(folder.path)/x.bin.part", "\(folder.path)/x.bin") == 0)
        folder.restart()
        let other = "https://b.example/x"
        #expect(try folder.fresh("x.bin", from: other).name == "x (1).bin")
        #expect(try isThere(folder.claim("x.bin", .fail)), "it is this download's, and reported now")
        #expect(throws: Failure.self) { try folder.claim("x.bin", .fail) }
    }

    @Test func `the digest of an existing file is that of its bytes`() async throws {
        let folder = TestFolder()
        let path = try await finish(folder, journalled: false)
        let disk = folder.disk
        let digest = try await FilePartial.wait { disk.digests([.sha256], of: path, completion: $0) }
        let partial = try folder.fresh("y.bin")
        try partial.write(payload(3000), at: 0)
        #expect(try await partial.digest(.sha256, length: 3000) == digest.flatMap(\.digest))
        let failure = await #expect(throws: Failure.self) {
            try await FilePartial.wait { disk.digests([.sha256], of: folder.path, completion: $0) }
        }
        #expect(failure?.code == .cannotOpen)
    }
}
