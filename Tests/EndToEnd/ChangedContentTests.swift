import PawlBase
import PawlJournal
import PawlTestKit
import Testing

/// Content that changes during the download: the file is all old or all new, never a mixture.
@Suite(.ownThreads) struct ChangedContentTests {
    private static let old = Payload(seed: 41, length: 5_000_000)
    private static let new = Payload(seed: 42, length: 5_000_000)
    private static let grown = Payload(seed: 43, length: 5_500_000)
    private static let shrunk = Payload(seed: 44, length: 2_000_000)

    static let validators: [Behaviour.Validators] = [
        .strong, .strongTagOnly, .weakTagOnly, .lastModifiedOnly, .none, .freshTagEachTime,
    ]

    @Test(arguments: validators, [new, grown, shrunk])
    func `C6 E7 G1 content changed between two runs gives the complete new file`(
        validators: Behaviour.Validators, later: Payload
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", versions: [Self.old, later]) { $0.validators = validators }
        try bench.leavePartial(of: "/f", bytes: 3_000_000)
        bench.origin.advance("/f")
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: later) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
    }

    @Test(arguments: validators, [new, grown, shrunk])
    func `C6 G1 content changed in the middle of a run gives the complete new file`(
        validators: Behaviour.Validators, later: Payload
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", versions: [Self.old, later], changing: .afterRequests(1)) {
            $0.validators = validators
        }
        bench.origin.vary("/f") { facts, behaviour in if facts.ordinal == 0 { behaviour.cut = .close(after: 3_000_000) }
        }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: later) == nil, "\(outcome)")
        #expect(bench.folder.names == ["f"])
    }

    @Test(arguments: validators) func `G1 G3 content changed under four connections is never mixed`(
        validators: Behaviour.Validators
    ) throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", versions: [Self.old, Self.new], changing: .afterBytes(2_000_000)) {
            $0.validators = validators
            $0.pace = 4_000_000
        }
        // Every old response is cut, so that the run cannot end with the old content.
        bench.origin.vary("/f") { facts, behaviour in if facts.version == 0 { behaviour.cut = .close(at: 4_999_999) } }
        let outcome = try bench.get(url, "-x", "4", "--retries", "5")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: Self.new) == nil, "\(outcome)")
    }

    /// Zeros, which both versions have before the place where the download is continued, from near and from far.
    @Test(arguments: [Behaviour.Validators.weakTagOnly, .none], [2_000_000, 5_000_000] as [Int64])
    func `content that changed is not continued because both versions have zeros`(
        validators: Behaviour.Validators, zeros: Int64
    ) throws {
        let length: Int64 = 9_000_000
        let blank = Payload.Blank(ByteRange(1_000_000, 1_000_000 + zeros + 500_000))
        var (old, later) = (Payload(seed: 45, length: length), Payload(seed: 46, length: length))
        (old.blank, later.blank) = (blank, blank)
        for isChanged in [true, false] {
            let bench = try Bench()
            let url = bench.origin.serve("/f", versions: [old, later]) {
                $0.validators = validators
                $0.pace = 20_000_000
            }
            try bench.leavePartial(of: "/f", bytes: 1_000_000 + zeros)
            if isChanged { bench.origin.advance("/f") }
            let outcome = try bench.get(url, "-x", "1")
            #expect(outcome.code == 0, "\(outcome)")
            #expect(bench.folder.difference("f", from: isChanged ? later : old) == nil, "\(outcome)")
            #expect(bench.folder.names == ["f"])
            let again = bench.origin.ended("/f").count > 1 ? bench.origin.log.sentTwice("/f") : -1
            #expect(isChanged || again < zeros + 1_000_000, "the bytes on disk were kept: \(again)")
        }
    }

    @Test func `G1 a new tag on each request for the same content does not start over`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f", Self.old) { $0.validators = .freshTagEachTime }
        try bench.leavePartial(of: "/f", bytes: 3_000_000)
        // Slow enough that a response abandoned at its head has not filled the kernel's buffers.
        bench.origin.adjust("/f") { $0.pace = 4_000_000 }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f", from: Self.old) == nil, "\(outcome)")
        let twice = bench.origin.ended("/f").count > 1 ? bench.origin.log.sentTwice("/f") : -1
        #expect((65_536...1_048_576).contains(twice), "an overlap is compared, and no more is fetched again: \(twice)")
    }

    @Test func `A6 B8 the same content under weak validators continues after an overlap`() throws {
        for validators in [Behaviour.Validators.weakTagOnly, .lastModifiedOnly, .none] {
            let bench = try Bench()
            let url = bench.origin.serve("/f", Self.old) { $0.validators = validators }
            try bench.leavePartial(of: "/f", bytes: 3_000_000)
            let outcome = try bench.get(url, "-x", "1")
            #expect(outcome.code == 0, "\(outcome)")
            #expect(bench.folder.difference("f", from: Self.old) == nil, "\(outcome)")
            _ = bench.origin.ended("/f")
            #expect(bench.origin.log.sentTwice("/f") <= 1_048_576)
        }
    }

    @Test func `C6 a login page instead of the rest never touches the part file`() throws {
        let bench = try Bench()
        let url = bench.origin.serve("/f.bin", Self.old)
        try bench.leavePartial(of: "/f.bin", bytes: 3_000_000)
        bench.origin.adjust("/f.bin") { $0.instead = .loginPage }
        let refused = try bench.get(url, "-x", "1", "--retries", "1")
        #expect(refused.code != 0, "\(refused)")
        #expect(!bench.folder.names.contains("f.bin"), "\(bench.folder.names)")
        bench.origin.adjust("/f.bin") { $0.instead = nil }
        let outcome = try bench.get(url, "-x", "1")
        #expect(outcome.code == 0, "\(outcome)")
        #expect(bench.folder.difference("f.bin", from: Self.old) == nil, "\(outcome)")
        _ = bench.origin.ended("/f.bin")
        #expect(bench.origin.log.sentTwice("/f.bin") == 0)
    }

    @Test func `a checksum detects bytes that changed during a response`() throws {
        let bench = try Bench()
        let url = bench.origin.serve(
            "/f", versions: [Payload(text: "old old old"), Payload(text: "new new new")], changing: .afterBytes(4),
            runningBodies: true
        ) { $0.pace = 100 }
        let digest = "5f8bcd1bd1ab1a2bb0a4a0ddc1a8e4a1b1d4b0c7"
        let outcome = try bench.get(url, "--checksum", "sha-1=\(digest)", "--retries", "0")
        #expect(outcome.code == 32, "\(outcome)")
        #expect(!bench.folder.names.contains("f"), "\(bench.folder.names)")
    }
}
