import PawlSystem

/// Holds the only reference to an object, and can release it early.
final class Released<Value: AnyObject & Sendable>: Sendable {
    private let value: Monitor<Value?>

    init(_ value: Value) { self.value = Monitor(value) }

    /// Releases the object; its `deinit` has run when this returns.
    func release() { value.with { $0 = nil } }

    var current: Value? { value.read { $0 } }
}
