import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Digests that responses and sums files state of the content.
@Suite struct DigestCaseTests {
    private static let right = [UInt8](repeating: 0xA1, count: 32)
    private static let wrong = [UInt8](repeating: 0xB2, count: 32)
    private static let sha = Checksum(algorithm: .sha256, digest: right)
    private static let r = Base64.encode(right)
    private static let w = Base64.encode(wrong)

    private static func head(_ status: String, _ fields: [String]) -> ResponseHead {
        let text = "HTTP/1.1 \(status)\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
        guard let head = ResponseHead(parsing: Array(text.utf8)) else { preconditionFailure("a malformed head") }
        return head
    }

    private static func whole(_ fields: String...) -> ResponseHead {
        head("200 OK", ["Content-Length: 1000", "ETag: \"v1\""] + fields)
    }

    /// A download whose only response has these fields, when all bytes are on disk.
    private static func complete(_ head: ResponseHead, _ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        var bench = Bench {
            $0.verification = .auto
            $0.retry.retries = 0
            change(&$0)
        }
        bench.begin()
        bench.respond(head)
        guard bench.machine.phase == .transferring else { return bench }
        bench.progress(to: 1000)
        bench.end(.complete)
        return bench
    }

    /// Computes these digests wherever they are requested, and returns the outcome.
    private static func outcome(_ bench: Bench, computing digests: [Checksum], decoded: [Checksum]? = nil) -> String {
        var bench = bench
        if bench.machine.phase == .verifying { bench.said = bench.machine.digested(digests) }
        if bench.said.contains(where: { if case .verifyDecoded = $0 { true } else { false } }) {
            bench.said = bench.machine.digestedDecoded(decoded, now: bench.now)
        }
        switch bench.machine.phase {
        case .publishing: return bench.machine.verification.result?.level.name ?? "none"
        case .failed: return "\(bench.machine.failure?.code.rawValue ?? 0)"
        case let phase: return "\(phase)"
        }
    }

    @Test(arguments: [
        (["Repr-Digest: sha-256=:\(r):"], "origin"), (["Repr-Digest: sha-256=:\(w):"], "32"),
        (["Content-Digest: sha-256=:\(r):"], "origin"), (["Digest: SHA-256=\(w)"], "32"),
        (["x-amz-checksum-sha256: \(w)-2"], "none"), (["x-amz-checksum-sha256: \(r)"], "origin"),
        (["x-amz-checksum-sha256: \(w)", "x-amz-checksum-type: COMPOSITE"], "none"),
        (["x-goog-hash: md5=AAAAAAAAAAAAAAAAAAAAAA=="], "32"),
        (["x-goog-hash: md5=AAAAAAAAAAAAAAAAAAAAAA==", "x-goog-stored-content-encoding: gzip"], "none"),
        (["Repr-Digest: sha-256=:\(w.dropLast()):"], "none"), (["Repr-Digest: sha-3=:\(w):"], "none"),
        (["Repr-Digest: sha-256=:\(r):, sha-256=:\(w):"], "32"),
        (["Repr-Digest: sha-256=:\(r):", "X-Checksum-Sha256: \(Hexadecimal.text(wrong))"], "32"),
        (["X-Linked-ETag: \"\(Hexadecimal.text(wrong))\""], "32"), (["X-Linked-ETag: \"v2\""], "none"), ([], "none"),
    ]) func `a digest field verifies, refutes, or says nothing`(fields: [String], wanted: String) {
        let bench = Self.complete(Self.head("200 OK", ["Content-Length: 1000", "ETag: \"v1\""] + fields))
        let digests = [Self.sha, Checksum(algorithm: .md5, digest: [UInt8](repeating: 1, count: 16))]
        #expect(Self.outcome(bench, computing: digests) == wanted)
    }

    @Test func `off counts only what is given`() {
        let off = Self.complete(Self.whole("Repr-Digest: sha-256=:\(Self.w):")) { $0.verification = .off }
        #expect(off.machine.phase == .publishing)
        let given = Self.complete(Self.whole()) {
            $0.verification = .off
            $0.checksums = [Self.sha]
        }
        #expect(Self.outcome(given, computing: [Self.sha]) == "given")
    }

    @Test(arguments: [VerificationPolicy.off, .auto]) func `nothing is published without the given digest`(
        policy: VerificationPolicy
    ) {
        let bench = Self.complete(Self.whole("x-goog-hash: crc32c=AAAAAQ==")) {
            $0.verification = policy
            $0.checksums = [Self.sha]
        }
        #expect(Self.outcome(bench, computing: []) == "32")
    }

    @Test func `a digest that contradicts the given one ends the download at once`() {
        let bench = Self.complete(Self.whole("Repr-Digest: sha-256=:\(Self.w):")) { $0.checksums = [Self.sha] }
        #expect(bench.machine.failure?.code == .checksumMismatch)
        let why = bench.machine.failure?.why ?? ""
        #expect(why.contains(Hexadecimal.text(Self.right)) && why.contains(Hexadecimal.text(Self.wrong)))
        #expect(why.contains("repr-digest"))
    }

    @Test func `a weak digest verifies with a notice`() {
        var bench = Self.complete(Self.whole("x-goog-hash: crc32c=AAAAAQ=="))
        bench.said = bench.machine.digested([Checksum(algorithm: .crc32c, digest: [0, 0, 0, 1])])
        #expect(bench.machine.verification.result?.level == .origin)
        #expect(bench.notices.contains { $0.contains("crc32c") })
    }

    @Test(
        arguments: [
            ([right], nil, "origin"), ([wrong], [right], "origin"), ([wrong], [wrong], "32"), ([wrong], [], "32"),
            ([wrong], nil, "none"),
        ] as [([[UInt8]], [[UInt8]]?, String)]) func `a coded response may state the digest of either form`(
            coded: [[UInt8]], plain: [[UInt8]]?, wanted: String
        )
    {
        let bench = Self.complete(Self.whole("Content-Encoding: gzip", "Repr-Digest: sha-256=:\(Self.r):"))
        let checksums = coded.map { Checksum(algorithm: .sha256, digest: $0) }
        let decoded = plain?.map { Checksum(algorithm: .sha256, digest: $0) }
        #expect(Self.outcome(bench, computing: checksums, decoded: decoded) == wanted)
    }

    @Test func `the digest of a part is not the file's`() {
        var bench = Bench { $0.verification = .auto }
        bench.begin(Bench.journal([ByteRange(0, 400)], total: 1000))
        let fields = ["Content-Range: bytes 400-999/1000", "ETag: \"v1\"", "Content-Digest: sha-256=:\(Self.w):"]
        bench.respond(Self.head("206 Partial Content", fields))
        bench.progress(to: 1000)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `of a redirect only X-Linked-ETag counts`() {
        for (field, wanted) in [
            ("X-Linked-ETag: \"\(Hexadecimal.text(Self.right))\"", "origin"),
            ("Repr-Digest: sha-256=:\(Self.w):", "none"),
        ] {
            var bench = Bench { $0.verification = .auto }
            bench.begin()
            bench.respond(Self.head("302 Found", ["Location: http://b.example/f", field]))
            bench.respond(Self.whole())
            bench.progress(to: 1000)
            bench.end(.complete)
            #expect(Self.outcome(bench, computing: [Self.sha]) == wanted)
        }
    }

    @Test func `another digest of the same source on resume is a changed file`() {
        let learnt = LearntDigest(address: "http://a.example/f", field: "repr-digest sha-256", checksum: Self.sha)
        var known = Representation(total: 1000)
        known.prove(
            "http://a.example/f", at: "http://a.example", Validators(entityTag: EntityTag(opaque: "v1", isWeak: false)))
        known.digests = [learnt]
        for (field, isChanged) in [(Self.r, false), (Self.w, true)] {
            var bench = Bench { $0.verification = .auto }
            bench.begin(Bench.journal([ByteRange(0, 400)], of: known))
            bench.respond(
                Self.head(
                    "206 Partial Content",
                    ["Content-Range: bytes 400-999/1000", "ETag: \"v1\"", "Repr-Digest: sha-256=:\(field):"]))
            #expect(bench.said.contains(.startOver) == isChanged)
        }
    }

    /// After a kill the server sends the whole with a digest that none of its parts had.
    @Test(arguments: ["ETag: \"v1\"", "ETag: W/\"v1\"", "X-Nothing: 1"], [true, false])
    func `the digest of a whole that was compared with the bytes on disk verifies them`(tag: String, isRight: Bool) {
        var known = Representation(total: 1000)
        var validators = Validators()
        if tag.hasPrefix("ETag") {
            validators = Validators(entityTag: EntityTag(opaque: "v1", isWeak: tag.contains("W/")))
        }
        known.prove("http://a.example/f", at: "http://a.example", validators)
        var bench = Bench {
            $0.verification = .auto
            $0.retry.retries = 0
        }
        bench.begin(Bench.journal([ByteRange(0, 400)], of: known))
        let digest = "Content-Digest: sha-256=:\(isRight ? Self.r : Self.w):"
        bench.respond(Self.head("200 OK", ["Content-Length: 1000", tag, digest]))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 1000)
        bench.end(.complete)
        #expect(bench.machine.phase == .verifying)
        #expect(Self.outcome(bench, computing: [Self.sha]) == (isRight ? "origin" : "32"))
    }

    @Test(arguments: ["\"v1\"", "W/\"v1\""])
    func `another digest in another field of a resumed source is a changed file, unless a strong tag denies it`(
        tag: String
    ) {
        var known = Representation(total: 1000)
        let field = "repr-digest sha-256"
        known.digests = [LearntDigest(address: "http://a.example/f", field: field, checksum: Self.sha)]
        let isWeak = tag.hasPrefix("W")
        let validators = Validators(entityTag: EntityTag(opaque: "v1", isWeak: isWeak))
        known.prove("http://a.example/f", at: "http://a.example", validators)
        var bench = Bench { $0.verification = .auto }
        bench.begin(Bench.journal([ByteRange(0, 400)], of: known))
        let start = isWeak ? 0 : 400
        let fields = ["Content-Range: bytes \(start)-999/1000", "ETag: \(tag)", "Digest: SHA-256=\(Self.w)"]
        bench.respond(Self.head("206 Partial Content", fields))
        #expect(bench.said.contains(.startOver) == isWeak)
        #expect((bench.machine.failure?.code == .checksumMismatch) == !isWeak)
        #expect(bench.notices.contains { $0.contains("the content changed: its repr-digest") } == isWeak)
    }

    @Test func `wrong content is fetched once from another source, then kept with the reason`() {
        var bench = Bench(hosts: ["a.example", "b.example"]) {
            $0.verification = .auto
            $0.checksums = [Self.sha]
        }
        bench.begin()
        bench.respond(Bench.whole(1000))
        bench.progress(to: 1000)
        bench.end(.complete)
        bench.said = bench.machine.digested([Checksum(algorithm: .sha256, digest: Self.wrong)], now: bench.now)
        #expect(bench.said.contains(.startOver))
        #expect(bench.machine.lanes.list.last?.source == 1)
        bench.respond(Bench.whole(1000))
        bench.progress(to: 1000)
        bench.end(.complete)
        bench.said = bench.machine.digested([Checksum(algorithm: .sha256, digest: Self.wrong)], now: bench.now)
        #expect(bench.machine.failure?.code == .checksumMismatch)
        #expect(bench.said.contains(.record) && bench.said.contains(.close(keeping: true)))
        #expect(bench.machine.remembered.damage?.contains(Hexadecimal.text(Self.wrong)) == true)
    }

    @Test func `only retry-corrupt discards bytes that were found to be wrong`() {
        var known = Representation(total: 1000)
        known.damage = "its sha-256 is another"
        for retries in [false, true] {
            var bench = Bench {
                $0.verification = .auto
                $0.retriesCorrupt = retries
            }
            bench.begin(Bench.journal([ByteRange(0, 1000)], of: known))
            #expect(bench.said.contains(.startOver) == retries)
        }
    }

    @Test func `bytes that were found to be wrong are not published without a digest`() {
        let record = ValidatorRecord(
            source: "http://a.example/f", host: "http://a.example",
            validators: Validators(entityTag: EntityTag(opaque: "v1", isWeak: false)))
        var known = Representation(total: 1000, records: [record])
        for isDamaged in [false, true] {
            known.damage = isDamaged ? "its sha-256 is another" : nil
            var bench = Bench { $0.retry.retries = 0 }
            bench.begin(Bench.journal([ByteRange(0, 1000)], of: known))
            #expect((bench.machine.phase == .publishing) == !isDamaged)
            #expect(bench.said.contains(.startOver) == isDamaged)
            #expect(bench.notices.contains { $0.contains("do not have the expected digest") } == isDamaged)
            guard isDamaged else { continue }
            #expect(bench.requested == .whole && bench.machine.written == 0)
            bench.respond(Bench.whole(1000))
            bench.progress(to: 1000)
            bench.end(.complete)
            #expect(bench.machine.phase == .publishing && bench.machine.remembered.damage == nil)
            var right = Bench { $0.checksums = [Self.sha] }
            right.begin(Bench.journal([ByteRange(0, 1000)], of: known))
            #expect(Self.outcome(right, computing: [Self.sha]) == "given")
        }
    }

    // MARK: sidecars

    private static func sidecar(_ digest: [UInt8], _ level: VerificationLevel = .sidecar) -> ExpectedDigest {
        ExpectedDigest(Checksum(algorithm: .sha256, digest: digest), level: level, source: "http://a/S")
    }

    @Test(arguments: [
        (VerificationPolicy.sidecar, [sidecar(right)], "sidecar"), (.sidecar, [sidecar(wrong)], "32"),
        (.sidecar, [], "none"), (.required, [], "32"), (.required, [sidecar(right)], "sidecar"),
        (.signed, [sidecar(right)], "32"), (.signed, [sidecar(right, .signed)], "signed"),
        (.sidecar, [sidecar(right), sidecar(wrong)], "32"),
    ]) func `sums files beside the content count as the policy says`(
        policy: VerificationPolicy, found: [ExpectedDigest], wanted: String
    ) {
        for isLate in [true, false] {
            var bench = Bench {
                $0.verification = policy
                $0.retry.retries = 0
            }
            bench.begin()
            bench.respond(Self.whole())
            #expect(bench.said.contains(.findSidecars(source: 0, hasSums: true, description: nil)))
            if !isLate { bench.said = bench.machine.foundSidecars(FoundDigests(found)) }
            if bench.machine.phase == .transferring {
                bench.progress(to: 1000)
                bench.end(.complete)
            }
            if isLate {
                #expect(bench.machine.phase == .verifying)
                bench.said = bench.machine.foundSidecars(FoundDigests(found))
            }
            #expect(Self.outcome(bench, computing: [Self.sha]) == wanted)
        }
    }

    @Test func `a digest of one of two algorithms verifies with the one that it is of`() {
        let digits = [UInt8](repeating: 0xC3, count: 64)
        let blake = Checksum(algorithm: .blake2b, digest: digits)
        let sha = Checksum(algorithm: .sha512, digest: digits)
        let either = ExpectedDigest(sha, or: [blake], level: .sidecar, source: "http://a/CHECKSUM")
        let given = ExpectedDigest(Checksum(algorithm: .sha512, digest: digits.reversed()), level: .given, source: "")
        let other = Checksum(algorithm: .sha512, digest: [UInt8](repeating: 7, count: 64))
        #expect([either].algorithms == [.sha512])
        #expect([either].otherAlgorithms(than: [other]) == [.blake2b])
        #expect([either].otherAlgorithms(than: [sha]) == [])
        #expect([either, given].contradiction == nil)
        let result = VerificationResult(level: .sidecar, checksum: blake, source: "http://a/CHECKSUM")
        #expect(DigestVerdict([either], computed: [other, blake]) == .verified(result))
        let wrong = Checksum(algorithm: .blake2b, digest: digits.map { $0 ^ 1 })
        #expect(DigestVerdict([either], computed: [other, wrong]) == .wrong(either, got: other))
        #expect(DigestVerdict([either], computed: [other]) == .unverified, "it may be of the other one")
    }

    @Test(arguments: [true, false])
    func `a digest of no stated algorithm is tried as all of them before it refutes the content`(isRight: Bool) {
        let digits = [UInt8](repeating: 0xC3, count: 32)
        let others = HashAlgorithm.sha256.lookalikes.map { Checksum(algorithm: $0, digest: digits) }
        let stated = ExpectedDigest(
            Checksum(algorithm: .sha256, digest: digits), or: others, level: .sidecar, source: "http://a/CHECKSUM")
        var bench = Self.complete(Self.whole()) { $0.verification = .sidecar }
        bench.said = bench.machine.foundSidecars(FoundDigests([stated]))
        #expect(bench.said == [.verify([.sha256], length: 1000)])
        let got = Checksum(algorithm: .sha256, digest: [UInt8](repeating: 7, count: 32))
        bench.said = bench.machine.digested([got])
        #expect(bench.said == [.verify(HashAlgorithm.sha256.lookalikes, length: 1000)])
        let computed = others.map { other in
            let isIt = isRight && other.algorithm == .sm3
            return Checksum(algorithm: other.algorithm, digest: isIt ? digits : digits.map { $0 ^ 1 })
        }
        #expect(Self.outcome(bench, computing: computed) == (isRight ? "sidecar" : "32"))
    }

    @Test func `a URL that is replaced while sums files are requested is compared before the file is published`() {
        var bench = Self.complete(Self.whole()) { $0.verification = .sidecar }
        #expect(bench.machine.phase == .verifying)
        let other = WebAddress(scheme: .http, host: "c.example", port: 80, path: "/f", query: nil)
        bench.said = bench.machine.replaceSource(0, with: other, now: bench.now)
        #expect(bench.machine.phase == .transferring)
        #expect(bench.requested == .closed(ByteRange(0, 1000)))
        #expect(bench.machine.foundSidecars(FoundDigests([Self.sidecar(Self.wrong)])).isEmpty)
        var same = bench
        bench.respond(Self.head("206 Partial Content", ["Content-Range: bytes 0-999/1000", "ETag: \"v1\""]))
        bench.said = bench.machine.compared(bench.lane, agreed: false, now: bench.now)
        #expect(bench.machine.failure?.code == .cannotResume)
        same.respond(Self.head("206 Partial Content", ["Content-Range: bytes 0-999/1000", "ETag: \"v1\""]))
        same.said = same.machine.compared(same.lane, agreed: true, now: same.now)
        same.end(.complete)
        #expect(same.machine.phase == .verifying)
        same.said = same.machine.foundSidecars(FoundDigests([Self.sidecar(Self.right)]))
        #expect(Self.outcome(same, computing: [Self.sha]) == "sidecar")
    }

    @Test func `a download that waits for sums files can be paused`() {
        var bench = Self.complete(Self.whole()) { $0.verification = .sidecar }
        #expect(bench.machine.phase == .verifying)
        bench.said = bench.machine.pause()
        #expect(bench.machine.phase == .paused)
        #expect(bench.machine.foundSidecars(FoundDigests()).isEmpty)
    }

    @Test func `a sums file that redirects to another host is not fetched there`() {
        var bench = Bench {
            $0.staysOnHost = true
            $0.retry.retries = 0
        }
        bench.begin()
        bench.respond(Bench.redirect(to: "http://a.example:81/g"))
        #expect(bench.machine.phase == .probing)
        bench.respond(Bench.redirect(to: "http://b.example/g"))
        #expect(bench.machine.phase == .failed)
    }

    @Test func `a journal keeps digests and the reason of a failure`() throws {
        var known = Representation(total: 5)
        known.digests = [LearntDigest(address: "http://a/f", field: "digest md5", checksum: Self.sha)]
        for (damage, suspect) in [(nil, nil), ("why", SuspectPage(total: nil, mediaType: "text/html"))] {
            known.damage = damage
            known.suspect = suspect
            var writer = JournalWriter()
            writer.putTail(of: known)
            var reader = JournalReader(writer.bytes[...])
            var read = Representation(total: 5)
            #expect(reader.takeTail(into: &read) && reader.isAtEnd)
            #expect(read == known)
        }
    }

    @Test func `what arrived last is made durable while a large file is verified`() {
        var bench = Self.complete(Self.whole()) { $0.checksums = [Self.sha] }
        #expect(bench.machine.phase == .verifying && !bench.said.contains(.checkpoint))
        bench.tick(after: 1)
        #expect(bench.said.isEmpty)
        bench.tick(after: 1)
        #expect(bench.said == [.checkpoint])
        bench.tick(after: 3)
        #expect(bench.said.isEmpty)
    }
}
