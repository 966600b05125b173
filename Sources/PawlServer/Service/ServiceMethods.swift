import Pawl
import PawlCore
import Synchronization

/// All RPC methods: aria2's, and those of ``ServiceMethod``.
struct ServiceMethods: RPCMethods {
    private let aria2: Aria2Methods
    let manager: DownloadManager
    let page: Page
    let defaults: ServiceDefaults
    let hooks: Hooks
    let check: DownloadCheck
    /// Why a requested port is not open.
    let portRefusal: String?
    let stop: @Sendable () -> Void
    private let presence = SharedPresence()

    /// `stop` requests the service to end.
    init(
        _ aria2: Aria2Methods, manager: DownloadManager, page: Page, configuration: ServiceConfiguration,
        portRefusal: String?, stop: @escaping @Sendable () -> Void
    ) {
        self.aria2 = aria2
        self.manager = manager
        self.page = page
        defaults = configuration.defaults
        hooks = configuration.hooks
        check = DownloadCheck(configuration.manager)
        self.portRefusal = portRefusal
        self.stop = stop
    }

    /// Called when the server runs.
    func attach(_ presence: ServicePresence) { self.presence.value.withLock { $0 = presence } }

    /// What the owner must know of files of the service that are gone.
    var troubles: [String] { presence.value.withLock { $0?.troubles ?? [] } }

    var names: [String] { aria2.names + ServiceMethod.table.map(\.name).sorted() }
    func has(_ name: String) -> Bool { ServiceMethod.named(name) != nil || aria2.has(name) }
    var notifications: [String] { aria2.notifications }

    func isReadOnly(_ method: String) -> Bool { ServiceMethod.named(method)?.isReadOnly ?? aria2.isReadOnly(method) }

    func returnsOptions(_ method: String) -> Bool {
        ServiceMethod.named(method)?.returnsOptions ?? aria2.returnsOptions(method)
    }

    func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON {
        guard let row = ServiceMethod.named(method) else { return try await aria2.call(method, parameters, rights) }
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
