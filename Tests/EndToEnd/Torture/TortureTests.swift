import Glibc
import PawlTestKit
import Testing

/// Real kills of the real program, by the hundred: `make torture`.
@Suite(.ownThreads, .serialized, .enabled(if: Torture.kills > 0, "make torture sets PAWL_TORTURE")) struct TortureTests
{
    @Test func `A4 A7 C6 D4 killed, stopped, cut off and out of space at any moment every file is correct`() throws {
        var torture = try Torture()
        print("torture: seed \(Torture.seed), \(Torture.kills) kills")
        while torture.report.kills < Torture.kills { try torture.downloadOne() }
        print(torture.report)
        #expect(torture.report.problems.isEmpty, "seed \(Torture.seed)")
        #expect(torture.report.fetchedAgain == 0, "bytes that one connection had brought were fetched again")
        #expect(torture.report.phases.count > min(2, Torture.kills / 20), "kills hit too few phases")
    }
}
