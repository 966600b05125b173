import PawlCore
import Testing

@testable import PawlBase

/// Targets of redirects that respond to one request each.
@Suite struct ExpiringTargetCaseTests {
    /// The URL itself has sent what is on disk, under a strong tag, and redirects now: each target responds once, and its
    /// responses prove nothing.
    private static func follow(_ bench: inout Bench, number: inout Int) {
        number += 1
        bench.respond(Bench.redirect(to: "http://b.example/f?token=\(number)"))
    }

    @Test func `a response that proves less than the redirecting URL promised is not requested without end`() {
        let total: Int64 = 2000
        var bench = Bench()
        // Nothing is before the first gap that could be compared.
        bench.begin(Bench.journal([ByteRange(500, total)], total: total))
        var targets = 0
        var isUsed = true
        for _ in 0..<60 where bench.machine.phase == .transferring {
            guard let requested = bench.requested, bench.machine.lanes.list.first?.stage == .asking else { break }
            if isUsed, bench.machine.sources[0].current == bench.machine.sources[0].given {
                Self.follow(&bench, number: &targets)
                isUsed = false
            } else if isUsed {
                bench.respond(ResponseHead(status: 403))
            } else if case .closed(let range) = requested {
                bench.respond(Bench.part(range.start, range.end, of: total, tag: nil))
                isUsed = true
            } else {
                bench.respond(Bench.whole(total, tag: nil))
                isUsed = true
            }
            if bench.machine.sources[0].current == bench.machine.sources[0].given { isUsed = true }
        }
        #expect(bench.machine.lanes.list.first?.isFlowing == true, "\(targets) targets: \(bench.said)")
        #expect(targets < 5)
    }
}
