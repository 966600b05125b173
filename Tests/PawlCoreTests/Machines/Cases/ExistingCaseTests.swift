import Testing

@testable import PawlCore

/// An existing file that is kept: nothing is fetched, but a given checksum and length are checked.
@Suite struct ExistingCaseTests {
    private static let digest = [UInt8](repeating: 7, count: 32)
    private static let checksum = Checksum(algorithm: .sha256, digest: digest)

    @Test func `without a checksum an existing file is accepted`() {
        var bench = Bench()
        bench.begin(.skipped)
        #expect(bench.said.last == .tell(.finished(length: 0, wasThere: true)))
        #expect(bench.machine.phase == .finished)
    }

    @Test func `the checksum of an existing file must match`() {
        for isRight in [true, false] {
            var bench = Bench { $0.checksum = Self.checksum }
            bench.begin(.skipped)
            #expect(bench.machine.phase == .verifying)
            #expect(bench.said.last == .verify(Self.checksum, length: 0))
            bench.said = bench.machine.digested(isRight ? Self.digest : [1])
            #expect(bench.machine.phase == (isRight ? .finished : .failed))
            #expect((bench.machine.failure?.code == .checksumMismatch) == !isRight)
            let isThere = bench.said.contains(.tell(.finished(length: 0, wasThere: true)))
            #expect(isThere == isRight)
            #expect(!bench.said.contains { if case .publish = $0 { true } else { false } })
        }
    }

    @Test func `a file that is found to exist with the response is checked as well`() {
        for checksum in [Self.checksum, nil] {
            var bench = Bench { $0.checksum = checksum }
            bench.begin(nil)
            bench.answer(Bench.whole(100))
            bench.said = bench.machine.claimed(bench.lane, .skipped, now: bench.now)
            #expect(bench.machine.lanes.isEmpty)
            #expect(bench.machine.phase == (checksum == nil ? .finished : .verifying))
            guard checksum != nil else { continue }
            bench.said = bench.machine.digested(Self.digest)
            #expect(bench.said.last == .tell(.finished(length: 100, wasThere: true)))
        }
    }

    @Test func `facts about an existing file are discarded at the next start`() {
        var bench = Bench { $0.checksum = Self.checksum }
        bench.begin(.skipped)
        bench.said = bench.machine.digested([1])
        bench.begin(.fresh)
        bench.answer(Bench.whole(10))
        bench.progress(to: 10)
        bench.end(.complete)
        bench.said = bench.machine.digested(Self.digest)
        #expect(bench.machine.phase == .publishing)
    }
}
