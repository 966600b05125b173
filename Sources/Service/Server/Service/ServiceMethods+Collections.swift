import Pawl
import PawlBase
import PawlWeb

// Collections of the queue: rows that stand for many files.
extension ServiceMethods {
    /// `[]`: all collections.
    func collectionRows() async throws -> JSON {
        .array(try await collections.snapshots().map { ServiceJSON.json($0) })
    }

    /// Adds the items that are collections, and gives the other ones to the queue together; the results have the order of
    /// the items.
    func add(_ items: [AddItem]) async throws -> [JSON] {
        var results = try await manager.addAll(items.filter { $0.listing == nil }.map(\.request)).map(Self.json)[...]
        var all: [JSON] = []
        for item in items {
            guard let (listing, kind) = item.listing else {
                all.append(results.removeFirst())
                continue
            }
            do {
                var request = try item.request.get()
                if !item.hasFolder, let folder = try await manager.folder(byRulesFor: request.source) {
                    request.options.folder = folder
                }
                let (id, isKnown) = try await collections.add(
                    request, listing, of: kind, hasFolder: item.hasFolder)
                all.append(
                    .object([JSON.Member("id", .string(id))] + (isKnown ? [JSON.Member("known", .bool(true))] : [])))
            } catch let failure as Failure {
                all.append(["error": .object(ServiceJSON.members(PawlError(failure)))])
            } catch let error as PawlError { all.append(["error": .object(ServiceJSON.members(error))]) }
        }
        return all
    }

    private static func json(_ result: Result<DownloadManager.Added, PawlError>) -> JSON {
        switch result {
        case .success(let added):
            .object(
                [JSON.Member("id", .string(added.id.description))]
                    + (added.isKnown ? [JSON.Member("known", .bool(true))] : [])
                    + (added.isFinished ? [JSON.Member("finished", .bool(true))] : [])
                    + (added.isPaused ? [JSON.Member("paused", .bool(true))] : []))
        case .failure(let error): ["error": .object(ServiceJSON.members(error))]
        }
    }

    /// As ``each(_:_:)-swift.method``, where ids of collections get `act`.
    func each(
        _ given: RPCParameters, collections act: @Sendable (String) async throws -> Bool,
        _ command: @escaping @Sendable (Download.ID) -> QueueCommand
    ) async throws -> JSON {
        try await each(given, collections: act) { try $0.perform(command($1)).isChange }
    }

    func each(
        _ given: RPCParameters, collections act: @Sendable (String) async throws -> Bool,
        _ body: @escaping @Sendable (QueueStep, Download.ID) throws -> Bool
    ) async throws -> JSON {
        let texts = try given.textOrTexts(0)
        guard texts.contains(where: QueuedCollection.isID) else { return try await each(given, body) }
        var members: [JSON.Member] = []
        for text in texts {
            guard QueuedCollection.isID(text) else {
                members += try await steer([text], body).map { JSON.Member($0.id.description, .bool($0.value)) }
                continue
            }
            let id = try await collection(text)
            members.append(JSON.Member(id, .bool(try await act(id))))
        }
        return .object(members)
    }

    /// The collection whose id begins with a text.
    func collection(_ text: String) async throws -> String {
        let found = await collections.ids(of: text)
        guard let first = found.first else { throw RPCError.noDownload(text) }
        guard found.count == 1 else {
            throw RPCError(Int(PawlError.Code.badOption.rawValue), "ambiguous id \(text): use more digits")
        }
        return first
    }

    /// The group with this name, or, where there is none, the collection whose id begins with it.
    func group(_ name: String) async throws -> String {
        guard QueuedCollection.isID(name), !QueuedCollection.isGroup(name),
            try await !manager.groups().contains(where: { $0.name.hasSameBytes(as: name) }),
            await !collections.ids(of: name).isEmpty
        else { return name }
        return try await collection(name)
    }

    func all(areRunning: Bool) async throws -> JSON {
        try await collections.setAll(areRunning: areRunning)
        return .bool(true)
    }
}

extension ServiceJSON {
    /// A collection, with the fields of a download that it has, and its numbers of files.
    static func json(_ snapshot: CollectionQueue.Snapshot) -> JSON {
        let (collection, counts) = (snapshot.collection, snapshot.collection.counts)
        let isWhole = counts.isListed && snapshot.state != .finished
        // Sizes of a listing may be rounded, or missing: then the files are counted.
        let isSized = counts.bytes > snapshot.written || counts.done == counts.listed
        let total =
            isWhole && isSized
            ? max(counts.bytes, snapshot.written) : snapshot.state == .finished ? snapshot.written : nil
        let percent = { () -> Double? in
            if let total, total > 0 { return Double(snapshot.written) * 100 / Double(total) }
            if snapshot.state == .finished { return 100 }
            return isWhole && !isSized ? Double(counts.done) * 100 / Double(counts.listed) : nil
        }()
        let failure = collection.failure.map { JSON.object(members(PawlError($0))) } ?? .null
        return [
            "id": .string(collection.id), "url": .string(Redaction.address(collection.source)),
            "state": .string(snapshot.state.rawValue), "name": .string(collection.name),
            "folder": .string(collection.options.folder), "written": .number(snapshot.written),
            "total": total.map { .number($0) } ?? .null,
            "percent": percent.map { decimal($0, places: 2, truncated: true) } ?? .null,
            "speed": .number(snapshot.speed), "smoothedSpeed": .number(snapshot.smoothedSpeed),
            "connections": .number(snapshot.connections), "priority": .number(collection.priority),
            "addedAt": .number(collection.addedAt.seconds),
            "endedAt": collection.endedAt.map { .number($0.seconds) } ?? .null, "error": failure,
            "files": [
                "listed": .number(counts.listed), "isListed": .bool(counts.isListed), "done": .number(counts.done),
                "running": .number(snapshot.running), "failed": .number(snapshot.failed),
            ],
        ]
    }
}
