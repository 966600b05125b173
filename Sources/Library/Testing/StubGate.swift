import PawlBase
import PawlSystem
import Synchronization

/// Holds a response of a ``StubOrigin`` until the test lets it go on.
///
/// ```swift
/// let gate = StubGate()
/// let origin = StubOrigin(["/a": [.ok(bytes).held(after: 500, until: gate)]])
/// // … start the download
/// await gate.reached()      // 500 bytes were received
/// download.pause()
/// gate.open()
/// ```
public final class StubGate: Sendable {
    private struct State {
        var isOpen = false
        var wakes: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let arrival = Latch()

    /// Creates a gate that is shut.
    public init() {}

    /// Lets all responses pass, also later ones.
    public func open() {
        let wakes = state.withLock { state in
            state.isOpen = true
            defer { state.wakes = [] }
            return state.wakes
        }
        for wake in wakes { wake() }
    }

    /// Returns when a response has come to the gate: what it held back was not received, and all before was.
    public func reached() async { await arrival.opened() }

    /// Whether a response may pass; if not, `wake` is called when it may.
    func passes(_ wake: @escaping @Sendable () -> Void) -> Bool {
        let isOpen = state.withLock { state in
            if !state.isOpen { state.wakes.append(wake) }
            return state.isOpen
        }
        arrival.open()
        return isOpen
    }
}
