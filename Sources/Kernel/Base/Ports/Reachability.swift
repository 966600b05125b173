/// A monitor of network connectivity.
package protocol Reachability: AnyObject, Sendable {
    /// Whether any route leads beyond the loopback interface.
    var isOnline: Bool { get }
    /// Calls `handler` with the new state, on any thread, whenever it changes, until `stop`.
    func start(_ handler: @escaping @Sendable (Bool) -> Void)
    func stop()
}
