/// What was tried without success since the last progress, and how much more may be.
struct RetryBudget: Hashable, Sendable {
    /// A download whose content changes this often fails.
    static let mostRestarts = 5
    /// Requests for fresh addresses without any byte received.
    static let mostRefreshes = 3

    private(set) var attempts = 0
    /// Failures of lanes beside others.
    private(set) var laneFaults = 0
    /// How often valid ranges of the known content were refused.
    private(set) var rangeRefusals = 0
    /// How often the download started over; progress does not make up for that.
    private(set) var restarts = 0
    /// Addresses requested.
    private(set) var refreshes = 0
    /// The most bytes that were on disk: those received again are no progress.
    private var highWater: Int64 = 0
    /// The last lane was closed for its low speed: such progress does not count.
    private(set) var isTooSlow = false

    /// Returns whether there was progress since the last call that makes up for what failed before.
    mutating func progressed(to written: Int64) -> Bool {
        guard written > highWater else { return false }
        highWater = written
        guard !isTooSlow else { return false }
        attempts = 0
        laneFaults = 0
        rangeRefusals = 0
        refreshes = 0
        return true
    }

    /// Only what is received beyond so many bytes is progress.
    mutating func countsProgress(from written: Int64) { highWater = written }

    mutating func attempted() { attempts += 1 }

    mutating func laneFailed() { laneFaults += 1 }

    mutating func rangeRefused() { rangeRefusals += 1 }

    /// The download starts over; returns whether it may.
    mutating func startedOver() -> Bool {
        restarts += 1
        return restarts <= RetryBudget.mostRestarts
    }

    /// Whether one more address is requested.
    mutating func refresh() -> Bool {
        guard refreshes < RetryBudget.mostRefreshes else { return false }
        refreshes += 1
        return true
    }

    /// What failed was another address.
    mutating func replaced() {
        attempts = 0
        isTooSlow = false
    }

    mutating func slowed(_ isSlow: Bool) { isTooSlow = isSlow }
}
