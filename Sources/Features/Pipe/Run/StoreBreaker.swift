import PawlBase
import PawlSystem
import Synchronization

/// Lets samples fail at once while their store cannot be connected to: each would need minutes for its retries.
final class StoreBreaker: Sendable {
    /// There is one store.
    private static let name = ""

    private let breakers: Mutex<ServerBreakers>
    private let clock = SystemClock()

    init(limit: Int) { breakers = Mutex(ServerBreakers(limit: limit)) }

    /// The failure of an object, if the store is not to be requested now.
    func rejection(of path: String) -> Failure? {
        let now = clock.now
        guard case .reject(let last) = breakers.withLock({ $0.start(Self.name, at: now) }) else { return nil }
        return Failure(
            last.code, "cannot store", at: path,
            because: "it was not tried, since the store could not be connected to repeatedly: \(last.why)",
            remedy: "try again later")
    }

    /// A request has ended.
    func note(_ failure: Failure?) {
        let now = clock.now
        breakers.withLock { breakers in
            guard let failure, failure.concernsConnection else { return breakers.connected(Self.name) }
            _ = breakers.failed(Self.name, failure, at: now)
        }
    }
}
