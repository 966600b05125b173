import Glibc
import Pawl
import PawlBase
import PawlGet
package import PawlTerminal

extension Command {
    package static let add = Command(
        "add", "[options] URL...", summary: "add downloads to the queue",
        details: """
            Add downloads to the queue of the background service and return; they continue when the terminal is closed, \
            and after a reboot once the service runs again. The service is started if it is not running.
            A URL that is already in the queue is resumed, not added twice. A repository of a hub (hf://), an image of a \
            registry (oci://) and, with --recursive, a folder is one entry, a collection: its files are added while they are \
            listed, and pause, resume and remove take all of it.
            """, operand: .addresses, taking: AddOptions.table
    ) { (options, sources) throws(Failure) in
        let plan = try GetPlan(
            options.get, sources, for: "add", readingWith: { (path) throws(Failure) in try readBytes(at: path) },
            askingWith: PasswordPrompt.ask, guessingWith: RemoteLook.scheme)
        for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
        var sources: [CollectionSource] = []
        for item in plan.items {
            if let source = try CollectionSource(
                item.source, isRecursive: options.get.listing.isRecursive, options.get.download)
            {
                sources.append(source)
            }
        }
        try plan.checkUnused(sources)
        return try AddSession(options, plan).run()
    }
}

/// Adds the downloads of a plan to the service, in batches.
private struct AddSession {
    private static let batchSize = 200
    /// A message with more than one download has at most so many bytes of digests of pieces; a Metalink, and so the
    /// digests of one file, has at most 16 MiB.
    private static let mostPieceText = 1 << 20

    private let options: AddOptions
    private let plan: GetPlan
    private let client: ServiceClient
    private let root: String

    init(_ options: AddOptions, _ plan: GetPlan) throws(Failure) {
        self.options = options
        self.plan = plan
        var client = try options.verb.client()
        if let root = options.root { client.root = ServicePlace.absolute(root) }
        self.client = client
        if try !client.isServiceRunning() {
            let isQuiet = options.verb.isJSON || options.get.isQuiet
            try ServiceStarter.start(options, for: client, quietly: isQuiet)
        }
        root = try client.call("pawl.status", to: "query")["root"]?.string ?? ""
        guard let wanted = options.root.map(ServicePlace.absolute), !wanted.hasSameBytes(as: root) else { return }
        throw Failure(
            .badOption, "cannot use", at: "--root \(wanted)", because: "the running service has the root \(root)",
            remedy: "omit --root, or use another --socket")
    }

    /// Returns the exit code of the last rejected download.
    func run() throws(Failure) -> Int32 {
        var code: UInt8 = 0
        var next = 0
        while next < plan.items.count {
            let start = next
            var requests: [JSON] = []
            var room = AddSession.mostPieceText
            while next < plan.items.count, requests.count < AddSession.batchSize {
                let pieces = plan.items[next].pieces?.text ?? ""
                guard requests.isEmpty || pieces.utf8.count <= room else { break }
                room -= pieces.utf8.count
                requests.append(try request(plan.items[next], pieces))
                next += 1
            }
            let items = plan.items[start..<next]
            let results = try client.call("pawl.add", [.array(requests)], to: "add").array ?? []
            let isHeld = try isGroupPaused()
            for (item, result) in zip(items, results) {
                guard let error = result["error"] else {
                    report(item.source, result, isHeld: isHeld)
                    continue
                }
                let failure = Failure(event: error)
                code = failure.code.rawValue
                printFailure(failure)
            }
        }
        return Int32(code)
    }

    /// Whether the new downloads wait because their group is paused.
    private func isGroupPaused() throws(Failure) -> Bool {
        guard let group = options.verb.group, !options.verb.isJSON, !options.get.isQuiet else { return false }
        return try client.groups().contains { $0.isPaused && $0.name.hasSameBytes(as: group) }
    }

    private func report(_ source: String, _ result: JSON, isHeld: Bool) {
        let id = result["id"]?.string ?? ""
        let isFinished = result["finished"]?.bool == true
        let isKnown = result["known"]?.bool == true
        var event = [
            JSON.Member("event", "added"), JSON.Member("id", .string(id)),
            JSON.Member("url", .string(Redaction.address(source))),
        ]
        if isKnown { event.append(JSON.Member("known", .bool(true))) }
        if isFinished { event.append(JSON.Member("finished", .bool(true))) }
        let outcome =
            isFinished
            ? ": already finished, not requested again; remove it from the queue to download it again"
            : isKnown
                ? ": already in the queue, not added twice\(result["paused"]?.bool == true ? "; it is paused" : "")"
                : isHeld ? ": its group is paused" : ""
        guard options.verb.isJSON || !options.get.isQuiet else { return }
        CommandOutput(options.verb).show(
            .object(event), "\(ShortIDs.text(id)) \(CollectionSource.shown(source))\(outcome)")
    }

    private func request(_ item: GetPlan.Item, _ pieces: String) throws(Failure) -> JSON {
        var download = try plan.downloadOptions(for: item)
        // The service has a different working directory.
        for option in DownloadOption.table where option.namesFile {
            for path in option.texts(of: download) where option.isFile(path) {
                _ = option.restore(ServicePlace.absolute(path), into: &download)
            }
        }
        var values: [JSON.Member] = []
        for (name, value) in download.values {
            if let last = values.last, last.name == name, case .array(let texts) = last.value {
                values[values.count - 1].value = .array(texts + [.string(value)])
            } else {
                values.append(JSON.Member(name, [.string(value)]))
            }
        }
        // Without one it is that of the service's settings.
        let isPlain = download.folder.hasSameBytes(as: DownloadOptions().folder)
        var request = [
            JSON.Member("url", .string(item.source)), JSON.Member("options", .object(values)),
            JSON.Member("mirrors", .strings(download.mirrors)),
            JSON.Member("folder", isPlain ? .null : .string(try folder(download.folder))),
            JSON.Member("priority", .number(options.priority)),
            JSON.Member("group", options.verb.group.map { .string($0) } ?? .null),
            JSON.Member("start", options.start.map { .string($0) } ?? .null),
            JSON.Member("startAt", options.startAt.map { .number($0) } ?? .null),
            JSON.Member("pieces", pieces.isEmpty ? .null : .string(pieces)),
        ]
        let listing = options.get.listing
        if try CollectionSource(item.source, isRecursive: listing.isRecursive, download) != nil {
            request.append(JSON.Member("listing", listing.json))
        }
        if options.get.tracks != StreamOptions() {
            request.append(JSON.Member("stream", options.get.tracks.json))
        }
        if options.get.keepsPlaylists { request.append(JSON.Member("asFile", .bool(true))) }
        if !download.usesOwnersSecrets { request.append(JSON.Member("ownersSecrets", .bool(false))) }
        return .object(request)
    }

    /// The folder relative to the root; an absolute one must be inside it.
    private func folder(_ folder: String) throws(Failure) -> String {
        guard folder.isAbsolutePath else { return folder }
        let path = ServicePlace.absolute(folder)
        if path.hasSameBytes(as: root) { return "." }
        if let below = path.afterBytes(of: root + "/") { return below }
        throw Failure(
            .badOption, "cannot use", at: "the folder \(folder)", because: "it is not inside the download root \(root)",
            remedy: "use a folder relative to the root, or 'pawl get'")
    }
}
