import Glibc
import Pawl
import PawlBase
import PawlIntake
import PawlServer
import PawlSystem
import PawlWeb

// aria2's session file: unfinished downloads, in the format of `--input-file`.
extension Aria2Methods {
    func saveSession() async throws -> JSON {
        guard let path = settings.sessionFile else { throw RPCError("Filename is not given.") }
        try AtomicFile.replace(path, with: Array(try await sessionText().utf8))
        return "OK"
    }

    func sessionText() async throws -> String {
        let filter = DownloadFilter([.waiting, .paused, .failed, .finished])
        var text = ""
        var page = try await manager.downloads(matching: filter, limit: 500)
        while let last = page.last {
            for details in try await manager.details(of: page.map(\.id)) { text += entry(details) }
            page = try await manager.downloads(matching: filter, after: last.id, limit: 500)
        }
        return text
    }

    /// Finished downloads are saved if `force-save` is set; failed ones unless they were not found and
    /// `save-not-found` is off.
    private func isSaved(_ details: DownloadDetails) -> Bool {
        let options = Aria2Options.remembered(in: details.options.attributes)
        switch details.snapshot.state {
        case .finished: return options.flag("force-save") == true
        case .failed: return details.snapshot.error?.code != .notFound || options.flag("save-not-found") != false
        default: return true
        }
    }

    private func entry(_ details: DownloadDetails) -> String {
        guard isSaved(details) else { return "" }
        let options = Aria2Options.remembered(in: details.options.attributes)
        let sources = details.sources(stating: options["checksum"] == nil ? details.options.checksum : nil)
        var text = sources.joined(separator: "\t") + "\n gid=\(details.snapshot.id)\n"
        if details.snapshot.state == .paused { text += " pause=true\n" }
        let common = settings.options
        for (name, value) in options.values.sorted(by: { $0.key < $1.key }) where common[name] != value {
            text += Aria2Option.sessionLines(name, value).joined()
        }
        return text
    }
}

/// Saves the session file periodically, and loads one.
final class SessionKeeper: Sendable {
    private let methods: Aria2Methods
    private let log: ServiceLog?
    private let timer: Task<Void, Never>?

    /// `interval` in seconds, 0 for never.
    init(_ methods: Aria2Methods, interval: Int, log: ServiceLog?) {
        self.methods = methods
        self.log = log
        guard interval > 0, methods.settings.sessionFile != nil else {
            timer = nil
            return
        }
        timer = Task {
            while (try? await Task.sleep(for: .seconds(min(interval, Int(Int32.max))))) != nil {
                await Self.save(methods, log)
            }
        }
    }

    private static func save(_ methods: Aria2Methods, _ log: ServiceLog?) async {
        do { _ = try await methods.saveSession() } catch let failure as Failure { log?.note(failure) } catch let error
            as PawlError
        { log?.note(error.failure) } catch {
            // Thrown only without a session file.
        }
    }

    /// Removes the downloads that earlier runs as `aria2c` added from the queue, but not their data.
    ///
    /// aria2 only restores its session file. Downloads that `pawl serve` or a program added to this queue
    /// stay.
    func forgetOthers(than entries: [InputEntry]) async {
        let kept = Set(
            entries.compactMap { entry in
                entry.options.last(where: { $0.name == "gid" }).flatMap { Download.ID($0.value) }
            })
        let filter = DownloadFilter([.waiting, .paused, .failed, .finished, .removed])
        let manager = methods.manager
        var page = (try? await manager.downloads(matching: filter, limit: 500)) ?? []
        while let last = page.last {
            let details = (try? await manager.details(of: page.map(\.id), includingConnections: false)) ?? []
            let others = details.filter {
                $0.options.attributes[Aria2Options.standInMark] != nil && !kept.contains($0.snapshot.id)
            }
            for text in others.map(\.snapshot.id.description) {
                _ = try? await manager.steer([text]) { step, id in
                    try step.perform(.remove(id, Removal(keepsFile: true, keepsPartial: true)))
                }
            }
            page = (try? await manager.downloads(matching: filter, after: last.id, limit: 500)) ?? []
        }
    }

    /// An entry whose id is already in the queue is not added again; one that cannot be added is logged and skipped.
    func load(_ entries: [InputEntry]) async {
        for entry in entries {
            if let gid = entry.options.last(where: { $0.name == "gid" })?.value, let id = Download.ID(gid),
                (try? await methods.manager.snapshot(of: id)) ?? nil != nil
            {
                continue
            }
            do { _ = try await methods.addURI(RPCParameters(entry), pieces: entry.pieces) } catch {
                note(error, of: entry)
            }
        }
    }

    private func note(_ error: any Error, of entry: InputEntry) {
        log?.note(
            Failure(
                .badOption, "cannot add", at: Redaction.address(entry.addresses.first ?? ""),
                because: (error as? RPCError)?.message ?? "\(error)"))
    }

    /// Writes it for the last time.
    func close() async {
        timer?.cancel()
        if methods.settings.sessionFile != nil { await Self.save(methods, log) }
    }
}

extension RPCParameters {
    /// The request with which a client would add the same download.
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
            ], RPCRights(isTrusted: true, isReadOnly: false))
    }
}
