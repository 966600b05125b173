import PawlBase
import Testing

@testable import PawlPipe

@Suite struct PipeTallyTests {
    private var tally: PipeTally {
        var tally = PipeTally()
        for _ in 0..<12_345 { tally.note(PipeResult(.ok), of: nil) }
        for _ in 0..<20 {
            tally.note(PipeResult(Failure(.notFound, "a", at: "b", because: "404"), as: .failed), of: nil)
        }
        return tally
    }

    @Test(arguments: [
        (120, "37%, 12365 samples, 230/s, 0 B, 12345 ok, 20 failed, 0 refused, 128 under way, 1:07 left"),
        (80, "37%, 12365 samples, 230/s, 0 B, 12345 ok, 20 failed, 0 refused, 1:07 left"),
        (50, "37%, 12365 samples, 20 failed, 1:07 left"), (10, "12365 samples"),
    ]) func `a line has what fits, the most important last to go`(width: Int, line: String) {
        #expect(tally.line(rate: 230, active: 128, slowest: [], percent: 37, left: "1:07", width: width) == line)
    }

    @Test func `without the input's length there is neither percentage nor time`() {
        #expect(
            tally.line(rate: 1, active: 2, slowest: [(host: "h", seconds: 1.5)])
                == "12365 samples, 1/s, 0 B, 12345 ok, 20 failed, 0 refused, 2 under way; slowest: h 1.5 s")
    }
}
