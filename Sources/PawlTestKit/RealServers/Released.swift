/// Holds the only reference to something and lets go of it early when asked.
final class Released<Value: AnyObject & Sendable>: Sendable {
    private let value: Monitor<Value?>

    init(_ value: Value) { self.value = Monitor(value) }

    /// Lets go; what `deinit` does is done when this returns.
    func release() { value.with { $0 = nil } }

    var current: Value? { value.read { $0 } }
}
