import Testing

@testable import PawlCore

@Suite struct RetryBudgetTests {
    @Test func `progress makes up for what failed, but not for starting over`() {
        var budget = RetryBudget()
        budget.attempted()
        budget.laneFailed()
        budget.rangeRefused()
        #expect(budget.refresh() && budget.startedOver())
        #expect(!budget.progressed(to: 0) && budget.attempts == 1)
        #expect(budget.progressed(to: 1) == true)
        #expect([budget.attempts, budget.laneFaults, budget.rangeRefusals, budget.refreshes] == [0, 0, 0, 0])
        #expect(budget.restarts == 1)
    }

    @Test func `bytes that are received again are no progress`() {
        var budget = RetryBudget()
        budget.countsProgress(from: 10)
        #expect(!budget.progressed(to: 10) && budget.progressed(to: 11) && !budget.progressed(to: 11))
        budget.countsProgress(from: 0)
        #expect(budget.progressed(to: 1) == true)
    }

    @Test func `progress that is too slow makes up for nothing`() {
        var budget = RetryBudget()
        budget.attempted()
        budget.slowed(true)
        #expect(!budget.progressed(to: 1) && budget.attempts == 1)
        budget.slowed(false)
        #expect(!budget.progressed(to: 1) && budget.progressed(to: 2) && budget.attempts == 0)
    }

    @Test func `another address has all attempts again`() {
        var budget = RetryBudget()
        budget.attempted()
        budget.slowed(true)
        budget.replaced()
        #expect(budget == RetryBudget())
    }

    @Test func `addresses and restarts are bounded`() {
        var budget = RetryBudget()
        #expect((0..<9).count { _ in budget.refresh() } == RetryBudget.mostRefreshes)
        #expect((0..<9).count { _ in budget.startedOver() } == RetryBudget.mostRestarts)
        #expect(budget.restarts == 9)
    }
}
