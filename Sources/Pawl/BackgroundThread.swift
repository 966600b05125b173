import PawlCurl

/// A thread for those who wait in a foreign library's loop.
package enum BackgroundThread {
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) {
        SystemThreads().start(name, body)
    }
}
