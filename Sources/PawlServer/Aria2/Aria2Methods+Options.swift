import Pawl
import PawlCore

extension Aria2Methods {
    /// The given options and all defaults, in a form that `addUri` accepts.
    func getOption(_ parameters: RPCParameters) async throws -> JSON {
        let id = try await find(try parameters.text(0))
        let status = try await status(of: id, looking: false)
        var told = defaults(scope: .initial)
        for (name, value) in settings.options.values
        where told[name] != nil || Aria2Option.table[name]?.scope.contains(.initial) == true {
            told[name] = value
        }
        for (name, value) in status.options.values { told[name] = value }
        told["dir"] = Aria2Status.join(settings.root, status.snapshot.folder)
        // Folders given in `out` are already in `dir`.
        if told["out"] != nil { told["out"] = status.details.options.fileName }
        told["gid"] = nil
        told["pause"] = nil
        return object(told)
    }

    func changeOption(_ parameters: RPCParameters) async throws -> JSON {
        let id = try await find(try parameters.text(0))
        let given = try parameters.requiredMembers(1)
        guard let details = try await manager.details(of: [id]).first else {
            throw RPCError("GID \(id) is not found")
        }
        var options = Aria2Options.remembered(in: details.options.attributes)
        var change = Aria2Options()
        try change.take(given, scope: .changeable)
        try options.take(given, scope: .changeable)
        var wish = details.options
        try change.apply(to: &wish, of: details.sources[0], root: settings.root)
        wish.attributes = options.attributes
        if !parameters.rights.mayNameFiles { wish.usesOwnersSecrets = false }
        try await manager.change(options: wish, of: id)
        return "OK"
    }

    func getGlobalOption() async throws -> JSON {
        var told = defaults(scope: [.global, .told])
        for (name, value) in settings.options.values { told[name] = value }
        told["dir"] = told["dir"] ?? settings.root
        return object(told)
    }

    func changeGlobalOption(_ parameters: RPCParameters) async throws -> JSON {
        let given = try parameters.requiredMembers(0)
        let options = try settings.take(given)
        if given["max-concurrent-downloads"] != nil, let slots = options.number("max-concurrent-downloads") {
            try await manager.change(slots: Int(clamping: slots))
        }
        if given["max-overall-download-limit"] != nil,
            let limit = options.number("max-overall-download-limit")
        {
            try await manager.limit(to: limit == 0 ? nil : limit)
        }
        return "OK"
    }

    private func defaults(scope: Aria2Option.Scope) -> [String: String] {
        var told: [String: String] = [:]
        for option in Aria2Option.table.values where !option.scope.isDisjoint(with: scope) {
            told[option.name] = option.fallback
        }
        return told
    }

    private func object(_ values: [String: String]) -> JSON {
        .object(values.sorted { $0.key < $1.key }.map { JSON.Member($0.key, .string($0.value)) })
    }
}
