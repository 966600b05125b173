import Pawl
import PawlBase
import PawlIntake
import PawlIntegrity
import PawlServer
import PawlWeb

// Methods that change the queue.
extension Aria2Methods {
    /// `pieces`: the digests of its pieces, of a Metalink on the command line.
    func addURI(_ parameters: RPCParameters, pieces: PieceHashes? = nil) async throws -> JSON {
        let given = try parameters.texts(0)
        guard !given.isEmpty else { throw RPCError("URI is not provided.") }
        let options = try options(parameters, 1)
        let sources = try Self.usable(given, isExpanded: options.flag("parameterized-uri") == true)
        let first = sources[0]
        let position = try position(parameters, 2)
        var request = try options.request(
            first, mirrors: Array(sources.dropFirst()), root: settings.root, defaults: settings.defaults.options)
        request.options.usesOwnersSecrets = parameters.rights.mayNameFiles
        request.pieces = pieces
        return .string(try await add([request], at: position)[0].description)
    }

    /// As in aria2, an unusable one among several is left out.
    private static func usable(_ given: [String], isExpanded: Bool) throws(RPCError) -> [String] {
        var sources = given
        if isExpanded {
            do throws(ParameterizedAddress.Fault) {
                sources = []
                for text in given { sources += try ParameterizedAddress.expand(text) }
            } catch { throw RPCError("The URI cannot be expanded: \(error.words).") }
        }
        let usable = sources.filter { (try? WebAddress.parse($0)) != nil }
        // If none is, the first one's error says why.
        return usable.isEmpty ? Array(sources.prefix(1)) : usable
    }

    /// One download for each file of the Metalink.
    func addMetalink(_ parameters: RPCParameters) async throws -> JSON {
        guard let bytes = Base64.decode(try parameters.text(0).utf8) else {
            throw RPCError("The parameter at 0 is not base64.")
        }
        let options = try options(parameters, 1)
        let position = try position(parameters, 2)
        let base = options["metalink-base-uri"].flatMap { (try? WebAddress.parse($0))?.address }
        let metalink: Metalink
        do throws(Metalink.Fault) { metalink = try Metalink(bytes, base: base) } catch {
            throw RPCError("The Metalink cannot be used: \(error.words).")
        }
        let requests = try options.requests(
            metalink, root: settings.root, usesOwnersSecrets: parameters.rights.mayNameFiles)
        return .array(try await add(requests, at: position).map { .string($0.description) })
    }

    /// The global options, overridden by those of this call.
    func options(_ parameters: RPCParameters, _ index: Int) throws(RPCError) -> Aria2Options {
        var options = settings.options
        try options.take(try parameters.members(index), scope: .initial)
        return options
    }

    func position(_ parameters: RPCParameters, _ index: Int) throws(RPCError) -> Int? {
        guard let position = try parameters.optionalInteger(index) else { return nil }
        guard position >= 0 else { throw RPCError("Position must be greater than or equal to 0.") }
        // Beyond any queue length, without an overflow when the positions of a Metalink's files are added.
        return min(position, .max / 2)
    }

    func add(_ requests: [DownloadRequest], at position: Int? = nil) async throws -> [Download.ID] {
        var requests = requests
        if settings.isStandIn {
            for index in requests.indices { requests[index].options.attributes[Aria2Options.standInMark] = "1" }
        }
        var ids: [Download.ID] = []
        for result in try await manager.add(requests) { ids.append(try result.get()) }
        if let position {
            for (offset, id) in ids.enumerated() { try await manager.move(id, to: .index(position + offset)) }
        }
        return ids
    }

    func remove(_ parameters: RPCParameters) async throws -> JSON {
        let (id, _) = try await one(parameters) { step, id in
            guard let snapshot = try step.snapshot(of: id) else { throw RPCError("GID \(id) is not found") }
            let word = Aria2Status.word(snapshot.state)
            guard ["active", "waiting", "paused"].contains(word) else {
                throw RPCError("Active Download not found for GID#\(id)")
            }
            // A download that never ran is removed without a trace. Received data stays, as in aria2: uGet
            // pauses this way, and resumes by adding the same download again.
            let removal = Removal(keepsFile: true, keepsHistory: word == "active", keepsPartial: true)
            return try step.perform(.remove(id, removal))
        }
        return .string(id.description)
    }

    func pause(_ parameters: RPCParameters) async throws -> JSON {
        let (id, isPaused) = try await one(parameters) { try $0.perform(.pause($1)).isChange }
        guard isPaused else { throw RPCError("GID#\(id) cannot be paused now") }
        return .string(id.description)
    }

    func unpause(_ parameters: RPCParameters) async throws -> JSON {
        let (id, isResumed) = try await one(parameters) { step, id in
            try step.snapshot(of: id)?.state == .paused && step.perform(.resume(id)).isChange
        }
        guard isResumed else { throw RPCError("GID#\(id) cannot be unpaused now") }
        return .string(id.description)
    }

    func pauseAll() async throws -> JSON {
        try await collections.setAll(areRunning: false)
        return "OK"
    }

    func unpauseAll() async throws -> JSON {
        try await collections.setAll(areRunning: true, withFailed: false)
        return "OK"
    }

    func changePosition(_ parameters: RPCParameters) async throws -> JSON {
        _ = try parameters.text(0)
        let position = try parameters.integer(1)
        let place: DownloadManager.Position =
            switch try parameters.text(2) {
            case "POS_SET": .index(position)
            case "POS_CUR": .offset(position)
            case "POS_END": .fromEnd(position)
            default: throw RPCError("Illegal argument.")
            }
        let (id, outcome) = try await one(parameters) { try $0.perform(.move($1, place)) }
        guard case .moved(let index?) = outcome else { throw RPCError("GID#\(id) not found in the waiting queue.") }
        return .number(index)
    }

    func changeURI(_ parameters: RPCParameters) async throws -> JSON {
        _ = try parameters.text(0)
        let file = try parameters.integer(1)
        guard file >= 1 else {
            throw RPCError(
                "The integer parameter at 1 has invalid value: the value must be greater than or equal to 1.")
        }
        let removed = try parameters.texts(2)
        // Invalid URLs are skipped, as in aria2.
        let added = try parameters.texts(3).filter { (try? WebAddress.parse($0)) != nil }
        let position = try position(parameters, 4)
        let isTrusted = parameters.rights.mayNameFiles
        let (_, count) = try await one(parameters) { step, id in
            guard let details = try step.details(of: id),
                !["complete", "error", "removed"].contains(Aria2Status.word(details.snapshot.state))
            else { throw RPCError("Cannot remove URIs from GID#\(id)") }
            guard file == 1 else { throw RPCError("fileIndex is out of range") }
            var sources = details.sources
            var count = 0
            for source in removed {
                // The queue's URLs are in normal form and have no fragments.
                guard let known = (try? WebAddress.parse(source))?.address.text,
                    let index = sources.firstIndex(of: known)
                else { continue }
                sources.remove(at: index)
                count += 1
            }
            sources.insert(contentsOf: added, at: min(max(0, position ?? sources.count), sources.count))
            guard !sources.isEmpty else { throw RPCError("Cannot remove URIs from GID#\(id)") }
            try Self.replace(details, by: sources, in: step, isTrusted: isTrusted)
            return count
        }
        return [.number(count), .number(added.count)]
    }

    /// The first is the URL, the others are its mirrors.
    private static func replace(
        _ details: DownloadDetails, by sources: [String], in step: QueueStep, isTrusted: Bool
    ) throws {
        var options = details.options
        options.mirrors = Array(sources.dropFirst())
        // Before any request to a URL from an untrusted client.
        if !isTrusted { options.usesOwnersSecrets = false }
        let id = details.snapshot.id
        if !options.hasSameBytes(as: details.options) { try step.perform(.options(id, options)) }
        if !details.sources[0].hasSameBytes(as: sources[0]) { try step.perform(.replaceURL(id, sources[0])) }
    }

    func purge() async throws -> JSON {
        try await manager.forgetAll()
        return "OK"
    }

    func removeResult(_ parameters: RPCParameters) async throws -> JSON {
        _ = try await one(parameters) { step, id in
            let isOver = try step.snapshot(of: id).map {
                ["complete", "error", "removed"].contains(Aria2Status.word($0.state))
            }
            guard isOver == true else { throw RPCError("Could not remove download result of GID#\(id)") }
            try step.perform(.forget(id))
        }
        return "OK"
    }
}
