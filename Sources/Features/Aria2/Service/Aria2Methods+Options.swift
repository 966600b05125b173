import Pawl
import PawlBase
import PawlWeb

extension Aria2Methods {
    /// The given options and all defaults, in a form that `addUri` accepts.
    func getOption(_ parameters: RPCParameters) async throws -> JSON {
        let status = try await status(parameters, looking: false)
        var values = defaults(scope: .initial)
        for (name, value) in settings.options.values
        where values[name] != nil || Aria2Option.table[name]?.scope.contains(.initial) == true { values[name] = value }
        for (name, value) in status.options.values { values[name] = value }
        values["dir"] = status.folder
        if values["out"] != nil { values["out"] = status.out }
        values["gid"] = nil
        values["pause"] = nil
        return object(values)
    }

    func changeOption(_ parameters: RPCParameters) async throws -> JSON {
        _ = try parameters.text(0)
        let given = try parameters.requiredMembers(1)
        let root = settings.root
        let isTrusted = parameters.rights.mayNameFiles
        _ = try await one(parameters) { step, id in
            guard let details = try step.details(of: id) else { throw RPCError("GID \(id) is not found") }
            guard !["complete", "error", "removed"].contains(Aria2Status.word(details.snapshot.state)) else {
                throw RPCError("Cannot change option for GID#\(id)")
            }
            var options = Aria2Options.remembered(in: details.options.attributes)
            var change = Aria2Options()
            try change.take(given, scope: .changeable)
            try options.take(given, scope: .changeable)
            var changed = details.options
            try change.apply(to: &changed, of: details.sources[0], root: root)
            let marks = details.options.attributes.filter { !$0.key.hasPrefix("aria2.") }
            changed.attributes = marks.merging(options.attributes) { _, own in own }
            if !isTrusted { changed.usesOwnersSecrets = false }
            if change["dir"] != nil || change["out"]?.contains("/") == true {
                try step.perform(.folder(id, try options.folder(root: root)))
            }
            return try step.perform(.options(id, changed))
        }
        return "OK"
    }

    func getGlobalOption() async throws -> JSON {
        var values = defaults(scope: [.global, .reported])
        for (name, value) in settings.options.values { values[name] = value }
        values["dir"] = values["dir"] ?? settings.root
        return object(values)
    }

    func changeGlobalOption(_ parameters: RPCParameters) async throws -> JSON {
        let given = try parameters.requiredMembers(0)
        let options = try settings.take(given)
        if given["max-concurrent-downloads"] != nil, let slots = options.number("max-concurrent-downloads") {
            try await manager.change(maximumConcurrentDownloads: Int(clamping: slots))
        }
        if given["max-overall-download-limit"] != nil, let limit = options.number("max-overall-download-limit") {
            try await manager.limit(to: limit == 0 ? nil : limit)
        }
        return "OK"
    }

    private func defaults(scope: Aria2Option.Scope) -> [String: String] {
        var values: [String: String] = [:]
        for option in Aria2Option.table.values where !option.scope.isDisjoint(with: scope) {
            values[option.name] = option.fallback
        }
        return values
    }

    private func object(_ values: [String: String]) -> JSON {
        let members = values.sorted { $0.key < $1.key }.map { name, value in
            // aria2 ends each line.
            let isLines = Aria2Option.table[name]?.kind == .lines && !value.isEmpty
            return JSON.Member(name, .string(isLines ? value + "\n" : value))
        }
        return .object(members)
    }
}
