import PawlBase
import Testing

@Suite struct DownloadStateTests {
    @Test func `the numbers in the store are permanent, and what runs is stored as waiting`() {
        let ended: [DownloadState: Int] = [.paused: 1, .finished: 2, .failed: 3, .removed: 4]
        for state in DownloadState.allCases { #expect(state.stored == ended[state] ?? 0) }
        #expect(DownloadState.allStored.map(\.stored) == [0, 1, 2, 3, 4])
    }

    @Test func `the names in JSON are permanent`() {
        let names =
            "waiting probing transferring waitingForNetwork waitingForDisk verifying publishing paused preempted "
            + "finished failed removed"
        #expect(DownloadState.allCases.map(\.rawValue).joined(separator: " ") == names)
    }

    @Test func `a state that has connections is not at rest, and one that has ended is`() {
        for state in DownloadState.allCases {
            #expect(!state.isActive || !state.isAtRest && !state.isFinal)
            #expect(!state.isFinal || state.isAtRest)
        }
    }
}
