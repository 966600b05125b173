import Pawl
import PawlCore

/// Everything that can be called: aria2's methods, and ours, which speak of downloads in our own words.
struct ServiceMethods: RPCMethods {
    private typealias Method = @Sendable (ServiceMethods, Aria2Parameters) async throws -> JSON

    private let aria2: Aria2Methods
    let manager: DownloadManager
    let page: Page
    /// Why there is no port, where one was wanted.
    let portRefusal: String?
    private let stop: @Sendable () -> Void

    /// `stop` asks the service to end.
    init(
        _ aria2: Aria2Methods,
        manager: DownloadManager,
        page: Page,
        portRefusal: String?,
        stop: @escaping @Sendable () -> Void
    ) {
        self.aria2 = aria2
        self.manager = manager
        self.page = page
        self.portRefusal = portRefusal
        self.stop = stop
    }

    var names: [String] { aria2.names + ServiceMethods.table.keys.sorted() }
    var notifications: [String] { aria2.notifications }

    func isReadOnly(_ method: String) -> Bool {
        ["pawl.status", "pawl.list", "pawl.running", "pawl.show", "pawl.totals"].contains(method)
            || aria2.isReadOnly(method)
    }

    func tellsOptions(_ method: String) -> Bool { method == "pawl.source" || aria2.tellsOptions(method) }

    func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON {
        guard let body = ServiceMethods.table[method] else {
            return try await aria2.call(method, parameters, rights)
        }
        do {
            return try await body(self, Aria2Parameters(parameters, rights))
        } catch let error as RPCError {
            throw error
        } catch let error as PawlError {
            throw RPCError(Int(error.code.rawValue), error.description)
        } catch {
            throw RPCError(String(describing: error))
        }
    }

    private static let table: [String: Method] = [
        "pawl.status": { methods, _ in try await methods.status() },
        "pawl.list": { try await $0.list($1) },
        "pawl.running": { methods, _ in
            .array(try await methods.manager.running().map { ServiceEvent.json($0) })
        },
        "pawl.show": { try await $0.show($1) },
        "pawl.totals": { try await $0.totals($1) },
        "pawl.add": { try await $0.add($1) },
        "pawl.pause": { methods, given in
            try await methods.each(given) { try await methods.manager.pause($0) }
        },
        "pawl.resume": { methods, given in
            try await methods.each(given) { try await methods.manager.resume($0) }
        },
        "pawl.start": { methods, given in
            try await methods.each(given) { try await methods.manager.start(now: $0) }
        },
        "pawl.pauseAll": { methods, _ in
            try await methods.manager.pauseAll()
            return .bool(true)
        },
        "pawl.resumeAll": { methods, _ in
            try await methods.manager.resumeAll()
            return .bool(true)
        },
        "pawl.pauseGroup": { methods, given in
            try await methods.manager.pause(group: try given.text(0))
            return .bool(true)
        },
        "pawl.resumeGroup": { methods, given in
            try await methods.manager.resume(group: try given.text(0))
            return .bool(true)
        },
        "pawl.stop": { methods, _ in
            methods.stop()
            return .bool(true)
        },
        "pawl.remove": { try await $0.remove($1) },
        "pawl.source": { try await $0.source($1) },
        "pawl.restore": { try await $0.restore($1) },
        "pawl.rename": { methods, given in
            .bool(try await methods.manager.rename(try await methods.id(given), to: try given.text(1)))
        },
        "pawl.move": { methods, given in
            let place = try ServiceMethods.place(given)
            let index = try await methods.manager.move(try await methods.id(given), to: place)
            return index.map { .number($0) } ?? .null
        },
        "pawl.url": { try await $0.replaceURL($1) },
        "pawl.priority": { methods, given in
            .bool(
                try await methods.manager.change(
                    priority: try given.integer(1),
                    of: try await methods.id(given)
                )
            )
        },
        "pawl.limit": { try await $0.limit($1) },
        "pawl.timetable": { try await $0.timetable($1) },
        "pawl.web": { methods, _ in
            guard let link = methods.page.link() else {
                throw RPCError(methods.portRefusal ?? "the service listens at no port")
            }
            return ["url": .string(link)]
        },
        "pawl.slots": { methods, given in
            try await methods.manager.change(slots: max(1, try given.integer(0)))
            return .bool(true)
        },
        "pawl.forget": { methods, given in
            try await methods.manager.forget(try await methods.id(given))
            return .bool(true)
        },
    ]
}
