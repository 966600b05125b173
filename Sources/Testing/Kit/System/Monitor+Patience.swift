import PawlBase
package import PawlSystem

extension Monitor {
    /// Waits until `body` returns a value, called again after each change; `nil` when `limit` passed without one.
    ///
    /// The limit only keeps a failing test from hanging: it is not part of the test.
    package func wait<Result>(atMost limit: Duration = .patience, for body: (inout State) -> Result?) -> Result? {
        let (seconds, attoseconds) = limit.components
        let span = Interval(nanoseconds: seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        return wait(until: SystemClock().now + span, for: body)
    }
}
