import Pawl
import PawlBase
import PawlWeb
import Synchronization

/// All RPC methods: those of ``ServiceMethod`` and of the service's extensions.
struct ServiceMethods: RPCMethods {
    private let others: [any RPCMethods]
    let manager: DownloadManager
    let collections: CollectionQueue
    let page: Page
    let defaults: ServiceDefaults
    let hooks: Hooks
    let atEnd: AtEnd
    let check: DownloadCheck
    /// Why a requested port is not open.
    let portRefusal: String?
    /// No other machine can reach the port.
    let isLocal: Bool
    let stop: @Sendable () -> Void
    private let presence = SharedPresence()

    /// `stop` requests the service to end.
    init(
        _ others: [any RPCMethods], manager: DownloadManager, collections: CollectionQueue, page: Page,
        configuration: ServiceConfiguration,
        portRefusal: String?, stop: @escaping @Sendable () -> Void
    ) {
        self.others = others
        self.manager = manager
        self.collections = collections
        self.page = page
        defaults = configuration.defaults
        hooks = configuration.hooks
        atEnd = configuration.atEnd
        check = DownloadCheck(configuration.manager)
        self.portRefusal = portRefusal
        isLocal = configuration.isLoopback
        self.stop = stop
    }

    /// Called when the server runs.
    func attach(_ presence: ServicePresence) { self.presence.value.withLock { $0 = presence } }

    /// What the owner must know of files of the service that are gone.
    var troubles: [String] { presence.value.withLock { $0?.troubles ?? [] } }

    var names: [String] { others.flatMap(\.names) + ServiceMethod.table.map(\.name).sorted() }
    func has(_ name: String) -> Bool { ServiceMethod.named(name) != nil || other(name) != nil }
    var notifications: [String] { others.flatMap(\.notifications) }

    private func other(_ method: String) -> (any RPCMethods)? { others.first { $0.has(method) } }

    func isReadOnly(_ method: String) -> Bool {
        ServiceMethod.named(method)?.isReadOnly ?? other(method)?.isReadOnly(method) ?? false
    }

    func returnsOptions(_ method: String) -> Bool {
        ServiceMethod.named(method)?.returnsOptions ?? other(method)?.returnsOptions(method) ?? false
    }

    func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON {
        guard let row = ServiceMethod.named(method) else {
            guard let other = other(method) else { throw .noSuchMethod(method) }
            return try await other.call(method, parameters, rights)
        }
        do {
            let given = RPCParameters(parameters, rights, errorCode: RPCError.invalidParameters.code)
            try given.checkCount(atMost: row.parameterCount)
            return try await row.body(self, given)
        } catch let error as RPCError { throw error } catch let error as PawlError {
            throw RPCError(Int(error.code.rawValue), error.description, data: .object(ServiceJSON.members(error)))
        } catch { throw RPCError(String(describing: error)) }
    }
}

/// Known only when the server runs, which needs the methods.
private final class SharedPresence: Sendable { let value = Mutex<ServicePresence?>(nil) }

extension RPCError {
    static func noDownload(_ text: String) -> RPCError {
        RPCError(Int(PawlError.Code.notFound.rawValue), "there is no download \(text)")
    }
}
