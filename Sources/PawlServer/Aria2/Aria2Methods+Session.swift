import Glibc
import Pawl
import PawlCore

// aria2's session file: what has not finished, in the form that `--input-file` reads.
extension Aria2Methods {
    func saveSession() async throws -> JSON {
        guard let path = settings.sessionFile else { throw RPCError("Filename is not given.") }
        try SessionFile.write(try await sessionText(), to: path)
        return "OK"
    }

    func sessionText() async throws -> String {
        let filter = DownloadFilter([.waiting, .paused, .failed, .finished])
        var text = ""
        var offset = 0
        while true {
            let page = try await manager.downloads(matching: filter, offset: offset, limit: 500)
            if page.isEmpty { return text }
            for details in try await manager.details(of: page.map(\.id)) { text += entry(details) }
            offset += page.count
        }
    }

    /// Finished ones are kept where `force-save` says so, failed ones unless they were not found and it says not to.
    private func isSaved(_ details: DownloadDetails) -> Bool {
        let options = Aria2Options.remembered(in: details.options.attributes)
        switch details.snapshot.state {
        case .finished: return options.flag("force-save") == true
        case .failed:
            return details.snapshot.error?.code != .notFound || options.flag("save-not-found") != false
        default: return true
        }
    }

    private func entry(_ details: DownloadDetails) -> String {
        guard isSaved(details) else { return "" }
        var lines = [details.sources.joined(separator: "\t"), " gid=\(details.snapshot.id)"]
        if details.snapshot.state == .paused { lines.append(" pause=true") }
        let options = Aria2Options.remembered(in: details.options.attributes)
        let common = settings.options
        for (name, value) in options.values.sorted(by: { $0.key < $1.key }) where common[name] != value {
            for line in value.split(separator: "\n", omittingEmptySubsequences: false) {
                lines.append(" \(name)=\(line)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

/// Keeps the session file up to date, and takes in what one lists.
final class SessionKeeper: Sendable {
    private let methods: Aria2Methods
    private let timer: Task<Void, Never>?

    /// `interval` are seconds, 0 for never.
    init(_ methods: Aria2Methods, interval: Int) {
        self.methods = methods
        guard interval > 0, methods.settings.sessionFile != nil else {
            timer = nil
            return
        }
        timer = Task {
            while (try? await Task.sleep(for: .seconds(interval))) != nil {
                _ = try? await methods.saveSession()
            }
        }
    }

    /// What the queue knows by the name that an entry says is not added again; what cannot be added is passed over.
    func load(_ entries: [InputEntry]) async {
        for entry in entries {
            if let gid = entry.options.last(where: { $0.name == "gid" })?.value,
                let id = Download.ID(gid), (try? await methods.manager.snapshot(of: id)) ?? nil != nil
            {
                continue
            }
            _ = try? await methods.addURI(Aria2Parameters(entry))
        }
    }

    /// Writes it for the last time.
    func close() async {
        timer?.cancel()
        if methods.settings.sessionFile != nil { _ = try? await methods.saveSession() }
    }
}

extension Aria2Parameters {
    /// What a client would send to have the same download.
    fileprivate init(_ entry: InputEntry) {
        var lines: [String: String] = [:]
        for line in entry.options {
            let former = line.name == "header" ? lines[line.name] : nil
            lines[line.name] = former.map { $0 + "\n" + line.value } ?? line.value
        }
        self.init(
            [
                .array(entry.addresses.map { .string($0) }),
                .object(lines.map { JSON.Member($0.key, .string($0.value)) }),
            ],
            RPCRights(isTrusted: true, isReadOnly: false)
        )
    }
}

/// Writes a file so that a reader sees the old one or the new one.
enum SessionFile {
    static func write(_ text: String, to path: String) throws(Failure) {
        let draft = path + "__temp"
        _ = unsafe unlink(draft)
        let file = unsafe open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw failure("cannot make", draft) }
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes[written...].withUnsafeBytes {
                unsafe Glibc.write(file, $0.baseAddress, $0.count)
            }
            guard count > 0 else {
                let failure = failure("cannot write", draft)
                close(file)
                throw failure
            }
            written += count
        }
        let isSynced = fsync(file) == 0
        guard close(file) == 0, isSynced else { throw failure("cannot write", draft) }
        guard unsafe rename(draft, path) == 0 else { throw failure("cannot rename to", path) }
    }

    private static func failure(_ what: String, _ path: String) -> Failure {
        Failure(.inputOutput, what, at: path, because: unsafe String(cString: strerror(errno)))
    }
}
