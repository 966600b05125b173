package import PawlBase
package import PawlServer
import PawlSystem
import PawlTerminal

/// One run of the service in this process.
package enum ServeSession {
    /// Serves until a signal or a caller requests a stop.
    ///
    /// Call it before any other thread is started. `started` is called once the service is ready, `ending` before it
    /// stops.
    package static func run(
        _ configuration: ServiceConfiguration, watchdog: Watchdog,
        ending: @escaping @Sendable (Service) async -> Void = { _ in }, started: @escaping @Sendable (Service) -> Void
    ) throws(Failure) {
        SystemMemory.keepSmall()
        let (signals, sender) = AsyncStream.makeStream(of: Int32.self)
        // Before any other thread, so that all inherit the signal mask.
        SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { number in
            watchdog.expectEnd()
            sender.yield(number)
        }
        try SystemThread.require(fewestThreads)
        try watchdog.start()
        let outcome = SystemThread.wait { await serve(configuration, watchdog, signals, ending, started) }
        watchdog.end()
        try outcome.get()
    }

    /// What the service needs besides the threads that run already.
    private static let fewestThreads = 12

    private static func serve(
        _ configuration: ServiceConfiguration, _ watchdog: Watchdog, _ signals: AsyncStream<Int32>,
        _ ending: @Sendable (Service) async -> Void, _ started: @Sendable (Service) -> Void
    ) async -> Result<Void, Failure> {
        do throws(Failure) {
            let service = try await Service.start(configuration)
            try SystemThread.requireAll()
            watchdog.watch(service)
            started(service)
            let listening = Task { for await _ in signals { service.ask() } }
            await service.waitUntilStopRequested()
            listening.cancel()
            watchdog.expectEnd()
            await ending(service)
            await service.stop()
            return .success(())
        } catch { return .failure(error) }
    }
}
