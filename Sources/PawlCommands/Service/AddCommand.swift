import Glibc
import Pawl
import PawlCore

extension Command {
    static let add = Command(
        "add",
        "[options] URL...",
        summary: "gives downloads to the background service",
        details: """
            Puts downloads into the queue of the background service and returns; they go on when the terminal is closed, \
            and after a restart of the machine once the service runs again. The service is started when none runs.
            An address that the queue knows already goes on instead of being added again.
            """,
        operand: .addresses,
        taking: AddOptions.table
    ) { (options, sources) throws(Failure) in
        let plan = try GetPlan(
            options.get,
            sources,
            for: "add",
            readingWith: readText,
            askingWith: PasswordPrompt.ask
        )
        for (option, path) in plan.options.filesToRead { try checkReadable(path, option: option) }
        return try AddSession(options, plan).run()
    }
}

/// Hands the downloads of a plan to the service, many at once.
private struct AddSession {
    private static let letterSize = 200

    private let options: AddOptions
    private let plan: GetPlan
    private let client: ServiceClient
    private let root: String

    init(_ options: AddOptions, _ plan: GetPlan) throws(Failure) {
        self.options = options
        self.plan = plan
        client = try options.verb.client()
        if try !client.isAnswered() {
            try ServiceStarter.start(options, at: client.socket, quietly: options.verb.isJSON)
        }
        root = try client.call("pawl.status", to: "ask")["root"]?.string ?? ""
        guard let wanted = options.root.map(ServicePlace.absolute), wanted != root else { return }
        throw Failure(
            .badOption,
            "cannot use",
            at: "--root \(wanted)",
            because: "the service that runs has the root \(root)",
            remedy: "leave --root out, or use another --socket"
        )
    }

    /// The exit code is that of the last that was refused.
    func run() throws(Failure) -> Int32 {
        var code: UInt8 = 0
        var next = 0
        while next < plan.items.count {
            let items = plan.items[next..<min(next + AddSession.letterSize, plan.items.count)]
            next = items.endIndex
            var wishes: [JSON] = []
            for item in items { wishes.append(try wish(item)) }
            let answers = try client.call("pawl.add", [.array(wishes)], to: "add").array ?? []
            for (item, answer) in zip(items, answers) {
                guard let error = answer["error"] else {
                    tell(item.source, answer["id"]?.string ?? "")
                    continue
                }
                let failure = Failure(event: error)
                code = failure.code.rawValue
                throttled(failure)
            }
        }
        return Int32(code)
    }

    private func tell(_ source: String, _ id: String) {
        let address = Redaction.address(source)
        CommandOutput(options.verb).tell(
            ["event": "added", "id": .string(id), "url": .string(address)],
            "\(id.prefix(ShortIDs.fewest)) \(address)"
        )
    }

    private func wish(_ item: GetPlan.Item) throws(Failure) -> JSON {
        var download = try plan.downloadOptions(for: item)
        // The service has another working directory.
        if let netrc = download.netrc, !netrc.isEmpty { download.netrc = ServicePlace.absolute(netrc) }
        download.cookieFile = download.cookieFile.map(ServicePlace.absolute)
        download.authorityFile = download.authorityFile.map(ServicePlace.absolute)
        download.certificate = download.certificate.map(ServicePlace.absolute)
        download.key = download.key.map(ServicePlace.absolute)
        var values: [JSON.Member] = []
        for (name, value) in download.values {
            if let last = values.last, last.name == name, case .array(let texts) = last.value {
                values[values.count - 1].value = .array(texts + [.string(value)])
            } else {
                values.append(JSON.Member(name, [.string(value)]))
            }
        }
        return [
            "url": .string(item.source), "options": .object(values), "mirrors": .strings(download.mirrors),
            "folder": .string(try folder(download.folder)), "priority": .number(options.priority),
            "group": options.verb.group.map { .string($0) } ?? .null,
            "start": options.start.map { .string($0) } ?? .null,
        ]
    }

    /// Relative to the root; an absolute one must be in it.
    private func folder(_ folder: String) throws(Failure) -> String {
        guard folder.hasPrefix("/") else { return folder }
        let path = ServicePlace.absolute(folder)
        if path == root { return "." }
        if path.hasPrefix(root + "/") { return String(path.dropFirst(root.count + 1)) }
        throw Failure(
            .badOption,
            "cannot use",
            at: "the folder \(folder)",
            because: "it is not inside the download root \(root)",
            remedy: "give a folder relative to the root, or use 'pawl get'"
        )
    }
}
