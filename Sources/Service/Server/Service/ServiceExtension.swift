package import Pawl
package import PawlWeb

/// Another interface to the service's queue: its methods, and how it encodes calls and words events.
package protocol ServiceExtension: Sendable {
    var methods: any RPCMethods { get }
    /// Encodings of calls besides JSON, by the path of their requests.
    var encodings: [String: RPCEncoding] { get }

    /// What WebSockets are told.
    func notification(of occasion: Hooks.Occasion, _ id: Download.ID) -> [UInt8]

    /// Called before anybody can call.
    func begin() async
    /// Called with every event, before any listener learns of it.
    func hear(_ event: DownloadEvent) async
    /// Called after the last call.
    func end() async
}

/// The parts of a service that an extension works with.
package struct ServiceContext: Sendable {
    package let manager: DownloadManager
    package let collections: CollectionQueue
    /// The download root, absolute.
    package let root: String
    /// Options for which a call gives no value.
    package let defaults: ServiceDefaults
    package let log: ServiceLog?
    /// Requests the service to end.
    package let stop: @Sendable () -> Void

    package init(
        manager: DownloadManager, collections: CollectionQueue, root: String, defaults: ServiceDefaults,
        log: ServiceLog?,
        stop: @escaping @Sendable () -> Void
    ) {
        self.manager = manager
        self.collections = collections
        self.root = root
        self.defaults = defaults
        self.log = log
        self.stop = stop
    }
}
