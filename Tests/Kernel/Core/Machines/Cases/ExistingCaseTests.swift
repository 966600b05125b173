import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Existing files: those that are kept, whose checksum and length are checked, and those that are continued.
@Suite struct ExistingCaseTests {
    private static let digest = [UInt8](repeating: 7, count: 32)
    private static let checksum = Checksum(algorithm: .sha256, digest: digest)

    @Test func `of an existing part that is all there only the digest is checked, and nothing behind it requested`() {
        var bench = Bench {
            $0.selection = .closed(ByteRange(0, 1000))
            $0.checksums = [Checksum(algorithm: .crc32, digest: [0, 0, 0, 0])]
        }
        bench.begin(.existing(length: 1000))
        #expect(bench.machine.phase == .verifying && bench.machine.lanes.list.isEmpty)
        var compared = Bench { $0.selection = .closed(ByteRange(0, 1000)) }
        compared.begin(.existing(length: 1000))
        #expect(compared.requested == .closed(ByteRange(0, 1000)))
    }

    @Test func `the longest holes of an existing file are compared`() {
        var bench = Bench()
        let holes = (1...12).map { number in
            ByteRange(number * 300_000, number * 300_000 + (number == 12 ? 4096 : 100_000 + number))
        }
        bench.begin(.existing(length: 4 * Self.megabyte, holes: holes))
        let sample = ComparisonSample.length
        #expect(bench.machine.samples.count == 11)
        for hole in holes[3...10] {
            #expect(bench.machine.samples.contains(ByteRange(hole.start, hole.start + sample)))
        }
        var short = Bench()
        short.begin(.existing(length: Self.megabyte, holes: [ByteRange(Self.megabyte - 8192, Self.megabyte)]))
        #expect(short.machine.samples.last == ByteRange(Self.megabyte - 8192, Self.megabyte))
        var checked = Bench { $0.checksums = [Self.checksum] }
        checked.begin(.existing(length: 4 * Self.megabyte, holes: holes))
        #expect(checked.machine.samples.isEmpty)
    }

    /// A machine whose first request is conditional, after this response to it.
    private static func conditional(_ status: Int, tag: String?, date: Int64? = nil) -> Bench {
        var bench = Bench { $0.existingTime = Bench.time(0) }
        bench.begin(nil)
        var head = Bench.whole(status == 304 ? nil : 70, tag: tag, date: date)
        head.status = status
        bench.respond(head)
        return bench
    }

    /// The time in the last request's condition.
    private static func condition(_ bench: Bench) -> UnixTime?? {
        bench.said.lazy.compactMap { if case .open(let order) = $0 { order.unchangedSince } else { nil } }.first
    }

    @Test func `a file that is there is asked for only if it has changed, and its validators prove that it has not`() {
        var asking = Bench { $0.existingTime = Bench.time(0) }
        asking.begin(nil)
        #expect(Self.condition(asking) == Bench.time(0))
        var bench = Self.conditional(304, tag: "v1")
        #expect(bench.said.last == .recognize(bench.lane))
        let lane = bench.lane
        bench.said = bench.machine.recognized(lane, true, length: 70, now: bench.now)
        #expect(bench.said.last == .notify(.finished(length: 70, wasThere: true)))
        #expect(bench.machine.recognized(lane, true, length: 70, now: bench.now).isEmpty)
    }

    @Test func `a 304 of another content, or of none that it names, leads to a request without a condition`() {
        var bench = Self.conditional(304, tag: "v2")
        bench.said = bench.machine.recognized(bench.lane, false, length: nil, now: bench.now)
        for var bench in [bench, Self.conditional(304, tag: nil)] {
            #expect(Self.condition(bench) == .some(nil) && bench.machine.lanes.list.count == 1)
            #expect(bench.machine.representation == nil)
            bench.respond(Bench.whole(70))
            #expect(bench.said.last == .claim(bench.lane))
        }
        // One that nothing has asked for is a fault.
        var unasked = Bench()
        unasked.begin(nil)
        var head = ResponseHead(status: 304)
        head.entityTag = EntityTag(opaque: "v1", isWeak: false)
        unasked.respond(head)
        #expect(unasked.machine.phase == .failed, "\(unasked.said)")
    }

    @Test func `a changed file is received by the conditional request`() {
        let bench = Self.conditional(200, tag: "v2")
        #expect(bench.said.last == .claim(bench.lane))
        var claimed = Bench { $0.existingTime = Bench.time(0) }
        claimed.begin(.fresh)
        #expect(Self.condition(claimed) == .some(nil), "its name is claimed: it is wanted in any case")
    }

    @Test func `without a checksum an existing file is accepted`() {
        var bench = Bench()
        bench.begin(.skipped(length: 70))
        #expect(bench.said.last == .notify(.finished(length: 70, wasThere: true)))
        #expect(bench.machine.phase == .finished)
    }

    @Test func `the checksum of an existing file must match`() {
        for isRight in [true, false] {
            var bench = Bench { $0.checksums = [Self.checksum] }
            bench.begin(.skipped(length: nil))
            #expect(bench.machine.phase == .verifying)
            #expect(bench.said.last == .verify([Self.checksum.algorithm], length: 0))
            bench.said = bench.machine.digested(isRight ? Self.digest : [1])
            #expect(bench.machine.phase == (isRight ? .finished : .failed))
            #expect((bench.machine.failure?.code == .checksumMismatch) == !isRight)
            let isThere = bench.said.contains(.notify(.finished(length: 0, wasThere: true)))
            #expect(isThere == isRight)
            #expect(!bench.said.contains { if case .publish = $0 { true } else { false } })
        }
    }

    @Test(arguments: [Bool?.none, false, true]) func `the pieces of an existing file must match`(isWrong: Bool?) {
        var bench = Bench {
            $0.pieces = PieceHashes(.md5, length: 1000, digests: (1...3).map { Array(repeating: $0, count: 16) })
        }
        bench.begin(.skipped(length: isWrong == nil ? 3001 : 2500))
        guard let isWrong else {
            #expect(bench.machine.failure?.cause?.id == "pieces-of-other-length")
            return
        }
        #expect(bench.machine.phase == .verifying)
        var orders = bench.said
        var hashed: [Int] = []
        while !orders.isEmpty, bench.machine.phase == .verifying {
            guard case .check(let check, .md5) = orders.removeFirst() else { continue }
            hashed.append(check.piece)
            let digest: UInt8 = isWrong && check.piece == 1 ? 9 : UInt8(check.piece + 1)
            bench.said = bench.machine.pieceHashed(check, digest: Array(repeating: digest, count: 16), now: bench.now)
            orders += bench.said
        }
        #expect(hashed == (isWrong ? [0, 1] : [0, 1, 2]))
        #expect(bench.machine.phase == (isWrong ? .failed : .finished))
        #expect(bench.machine.failure?.cause?.id == (isWrong ? "existing-piece-wrong" : nil))
        #expect(!bench.said.contains { if case .discard = $0 { true } else { false } })
    }

    @Test(arguments: [VerificationPolicy.required, .signed])
    func `an existing file must reach the level that a download must`(verification: VerificationPolicy) {
        let found = ExpectedDigest(Self.checksum, level: .sidecar, source: "SHA256SUMS")
        for digests in [[], [found]] {
            var bench = Bench { $0.verification = verification }
            bench.begin(.skipped(length: nil))
            #expect(bench.said.last == .findSidecars(source: 0, hasSums: true, description: nil))
            bench.said = bench.machine.foundSidecars(FoundDigests(digests))
            if !digests.isEmpty {
                #expect(bench.said == [.verify([.sha256], length: 0)])
                bench.said = bench.machine.digested(Self.digest)
            }
            let isEnough = verification == .required && !digests.isEmpty
            #expect(bench.machine.phase == (isEnough ? .finished : .failed))
            #expect(bench.machine.verification.result?.level == (digests.isEmpty ? nil : .sidecar))
        }
        var given = Bench {
            $0.verification = verification
            $0.checksums = [Self.checksum]
        }
        given.begin(.skipped(length: nil))
        #expect(given.said.last == .verify([.sha256], length: 0), "nothing is requested")
    }

    @Test func `a file that is found to exist with the response is checked as well`() {
        for checksums in [[Self.checksum], []] {
            var bench = Bench { $0.checksums = checksums }
            bench.begin(nil)
            bench.respond(Bench.whole(100))
            bench.said = bench.machine.claimed(bench.lane, .skipped(length: nil), now: bench.now)
            #expect(bench.machine.lanes.list.isEmpty)
            #expect(bench.machine.phase == (checksums.isEmpty ? .finished : .verifying))
            guard !checksums.isEmpty else { continue }
            bench.said = bench.machine.digested(Self.digest)
            #expect(bench.said.last == .notify(.finished(length: 100, wasThere: true)))
        }
    }

    private static let megabyte = Bench.megabyte

    /// An existing file of 4 MiB that is being continued to 8 MiB, with `added` bytes so far.
    private func continuing(added: Int64, _ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        var bench = Bench {
            $0.retry.retries = 0
            change(&$0)
        }
        bench.begin(.existing(length: 4 * Self.megabyte))
        while let place = bench.machine.samples.first {
            bench.respond(Bench.part(place.start, place.end, of: 8 * Self.megabyte))
            bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        }
        guard added > 0 else { return bench }
        bench.respond(Bench.part(4 * Self.megabyte, 8 * Self.megabyte, of: 8 * Self.megabyte))
        bench.progress(to: 4 * Self.megabyte + added)
        return bench
    }

    @Test func `an existing file has its name again when it stops before a byte was added`() {
        for isPaused in [true, false] {
            var bench = continuing(added: 0)
            bench.said = isPaused ? bench.machine.pause() : bench.machine.preempt()
            #expect(bench.said.contains(.restoreOriginal))
            bench = continuing(added: 1000)
            bench.said = isPaused ? bench.machine.pause() : bench.machine.preempt()
            #expect(bench.said.contains(.close(keeping: true)) && !bench.said.contains(.restoreOriginal))
        }
        var empty = Bench()
        empty.begin(.existing(length: 0))
        empty.said = empty.machine.pause()
        #expect(empty.said.contains(.restoreOriginal), "an empty file is a file too")
    }

    /// The next run after a kill: 2 MiB were added to an existing file of 4 MiB.
    private func killed(_ change: (inout DownloadPlan) -> Void = { _ in }) -> Bench {
        var bench = Bench {
            $0.retry.retries = 0
            change(&$0)
        }
        guard case .found(var journal) = Bench.journal([ByteRange(0, 6 * Self.megabyte)], total: 8 * Self.megabyte)
        else { return bench }
        journal.original = 4 * Self.megabyte
        bench.begin(.found(journal))
        return bench
    }

    @Test func `an existing file that a killed run continued has its name again when the content changed`() {
        for isSmaller in [false, true] {
            var bench = killed()
            #expect(bench.requested == .closed(ByteRange(6 * Self.megabyte, 8 * Self.megabyte)))
            bench.respond(Bench.whole((isSmaller ? 1 : 8) * Self.megabyte, tag: "v2"))
            if bench.machine.phase != .failed { bench.respond(Bench.part(0, 1, of: 8 * Self.megabyte, tag: "v2")) }
            #expect(bench.machine.phase == .failed && bench.said.contains(.restoreOriginal))
            #expect(bench.machine.failure?.code == .cannotResume)
            #expect(!bench.said.contains(.startOver))
        }
        let range = killed { $0.selection = .from(5) }
        #expect(range.said.contains(.restoreOriginal) && range.machine.failure?.code == .cannotResume)
    }

    @Test func `what a killed run added to an existing file stays after other failures`() {
        var bench = killed()
        bench.fail(.connectionLost)
        #expect(bench.machine.phase == .failed && bench.said.contains(.close(keeping: true)))
        bench = killed()
        bench.respond(Bench.part(6 * Self.megabyte, 8 * Self.megabyte, of: 8 * Self.megabyte))
        bench.progress(to: 8 * Self.megabyte)
        bench.end(.complete)
        #expect(bench.machine.phase == .publishing)
    }

    @Test func `an existing file of another length than the expected one is not accepted`() {
        for length in [5, 6] as [Int64] {
            var bench = Bench { $0.length = 6 }
            bench.begin(.skipped(length: length))
            #expect(bench.machine.phase == (length == 6 ? .finished : .failed))
        }
    }

    @Test func `an existing file has its name again after a failure, with what was added to it`() {
        var bench = continuing(added: 1000)
        bench.fail(.connectionLost)
        #expect(bench.machine.phase == .failed)
        #expect(bench.said.contains(.restoreExtended(length: 4 * Self.megabyte + 1000)))
        #expect(bench.machine.failure?.remedy.text == "the file is kept; resume the download to continue")
        bench = continuing(added: 0)
        bench.fail(.connectionLost)
        #expect(bench.machine.phase == .failed && bench.said.contains(.restoreOriginal))
    }

    @Test func `bytes that make an existing file wrong are not left in it`() {
        var bench = Bench { $0.checksums = [Self.checksum] }
        bench.begin(.existing(length: 4 * Self.megabyte))
        // Nothing proves the existing bytes yet: the next response has to repeat their last ones.
        bench.respond(Bench.part(4 * Self.megabyte, 8 * Self.megabyte, of: 8 * Self.megabyte))
        let start = 4 * Self.megabyte - DownloadMachine.overlap
        #expect(bench.requested == .from(start))
        bench.respond(Bench.part(start, 8 * Self.megabyte, of: 8 * Self.megabyte))
        bench.said = bench.machine.compared(bench.lane, agreed: true, now: bench.now)
        bench.progress(to: 8 * Self.megabyte)
        bench.end(.complete)
        #expect(bench.machine.phase == .verifying)
        bench.said = bench.machine.digested([1])
        #expect(bench.machine.failure?.code == .checksumMismatch)
        #expect(bench.said.contains(.restoreOriginal))
        #expect(bench.machine.failure?.remedy.text.hasPrefix("the file is unchanged; ") == true)
    }

    @Test func `a resumed file with another digest is kept and never published`() {
        var bench = Bench { $0.checksums = [Self.checksum] }
        bench.begin(Bench.journal([ByteRange(0, Self.megabyte)], total: 2 * Self.megabyte))
        bench.respond(Bench.part(Self.megabyte, 2 * Self.megabyte, of: 2 * Self.megabyte))
        bench.progress(to: 2 * Self.megabyte)
        bench.end(.complete)
        #expect(bench.said.last == .verify([Self.checksum.algorithm], length: 2 * Self.megabyte))
        bench.said = bench.machine.digested([1])
        #expect(bench.machine.phase == .failed && bench.machine.failure?.code == .checksumMismatch)
        #expect(bench.said.contains(.close(keeping: true)))
        #expect(bench.machine.failure?.remedy.text.hasPrefix("the partial file is kept; ") == true)
        // The next run fetches nothing: the digest of all bytes decides again.
        for isRight in [false, true] {
            bench.begin(Bench.journal([ByteRange(0, 2 * Self.megabyte)], total: 2 * Self.megabyte))
            #expect(bench.said.last == .verify([Self.checksum.algorithm], length: 2 * Self.megabyte))
            bench.said = bench.machine.digested(isRight ? Self.digest : [1])
            #expect(bench.machine.phase == (isRight ? .publishing : .failed))
        }
    }

    @Test func `facts about an existing file are discarded at the next start`() {
        var bench = Bench { $0.checksums = [Self.checksum] }
        bench.begin(.skipped(length: nil))
        bench.said = bench.machine.digested([1])
        bench.begin(.fresh)
        bench.respond(Bench.whole(10))
        bench.progress(to: 10)
        bench.end(.complete)
        bench.said = bench.machine.digested(Self.digest)
        #expect(bench.machine.phase == .publishing)
    }
}
