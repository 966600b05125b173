package import PawlBase

/// The share `K/N` of a host's limits that this process may use.
package struct HostShare: Hashable, Sendable {
    package static let whole = HostShare(number: 1, count: 1)

    /// `K`, counted from 1.
    package let number: Int
    package let count: Int

    private init(number: Int, count: Int) {
        self.number = number
        self.count = count
    }

    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1], count > 0, count <= 1_000_000,
            (1...count).contains(number)
        else { return nil }
        self.init(number: number, count: count)
    }

    /// The part of a limit for this process; the parts of all processes add up to it.
    ///
    /// `nil` if this part is 0.
    package func connections(of whole: Int) -> Int? {
        let own = whole / count + (number <= whole % count ? 1 : 0)
        return own > 0 ? own : nil
    }

    /// The delay of one process: `N` times as long as that of a process alone.
    package func delay(of whole: Interval) -> Interval { whole * Double(count) }
}
