import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

/// Untrusted numbers from a server, a file or a caller never reach an overflowing sum.
@Suite struct OutsideNumberCaseTests {
    private static let longest = ByteRange.longestFile
    private static let edges: [Int64] = [0, 1, 9, 10, 11, 20, longest - 1, longest]
    private static let extremes = edges + [longest + 1, .max - 20, .max - 1, .max]

    private static let selections: [RequestedRange] =
        [.whole] + edges.map { .from($0) } + edges.map { .suffix(max(1, $0)) }
        + edges.flatMap { first in edges.compactMap { ByteRange(named: first, $0).map { .closed($0) } } }

    private static let heads: [ResponseHead] = extremes.flatMap { length in
        var heads = [Bench.whole(length), ResponseHead(fileLength: length, modified: nil), refused(length)]
        for start in edges {
            for end in extremes where end > start {
                heads.append(Bench.part(start, end, of: length))
                heads.append(Bench.part(start, end, of: nil))
            }
        }
        return heads
    }

    private static func refused(_ total: Int64) -> ResponseHead {
        var head = ResponseHead(status: 416)
        head.contentRange = .unsatisfied(total: total)
        return head
    }

    /// Every start state that a disk can offer, with bytes of `count`.
    private static func claims(_ count: Int64, _ selection: RequestedRange) -> [ClaimOutcome] {
        let representation = Representation(selection: selection, base: 0)
        let facts = JournalFacts(sources: [], representation: representation, name: "f")
        let done = ByteRangeSet(count > 0 ? [ByteRange(0, count)] : [])
        return [.existing(length: count), .found(LoadedJournal(facts: facts, done: done))]
    }

    @Test(arguments: selections) func `no length of an existing file and no requested range overflows`(
        _ selection: RequestedRange
    ) {
        var requests = 0
        for count in Self.edges {
            for claim in Self.claims(count, selection) {
                for checksums in [[], [Checksum(algorithm: .md5, digest: [UInt8](repeating: 1, count: 16))]] {
                    var bench = Bench {
                        $0.selection = selection
                        $0.checksums = checksums
                    }
                    bench.begin(claim)
                    requests += bench.machine.lanes.list.count
                    bench.respond(Bench.whole(30))
                }
            }
        }
        #expect(requests > 0)
    }

    @Test(arguments: selections) func `no response overflows a requested range`(_ selection: RequestedRange) {
        for scheme in [WebAddress.Scheme.http, .ftp] {
            for head in Self.heads {
                var bench = Bench(scheme: scheme) { $0.selection = selection }
                bench.begin(.fresh)
                bench.respond(head)
                bench.progress(to: min(10, bench.machine.lanes.list.last?.end ?? 0))
                bench.fail(.connectionLost)
                bench.ring()
                bench.respond(head)
                #expect(bench.machine.written <= 10)
            }
        }
    }

    @Test func `an impossible length is ignored, whatever else the response contains`() {
        for head in [Bench.part(0, .max, of: 10), Bench.part(0, 10, of: .max), Bench.whole(.max), Self.refused(.max)] {
            let verdict = Judge(requested: .from(0), known: nil).verdict(on: head, wallTime: UnixTime(seconds: 0))
            guard case .fault(.unproven) = verdict else {
                Issue.record("\(verdict)")
                continue
            }
        }
    }

    @Test func `a negative length is invalid`() {
        #expect(ResponseHead(fileLength: -1, modified: nil).contentLength == nil)
    }

    @Test func `an interval saturates and never traps`() {
        let huge: [Double] = [.infinity, -.infinity, .nan, .greatestFiniteMagnitude, -.greatestFiniteMagnitude]
        for seconds in huge {
            let span = Interval.seconds(seconds)
            #expect((span > .zero) == (seconds > 0))
            #expect((Instant(nanoseconds: 0) + span) - Instant(nanoseconds: 0) == span)
            #expect(span * .infinity != Interval(nanoseconds: 1))
        }
        var limiter = RateLimiter(rate: 1)
        limiter.charge(.max, now: Instant(nanoseconds: 0))
        #expect(limiter.delay(now: Instant(nanoseconds: 0)) > .seconds(86_400))
    }
}
