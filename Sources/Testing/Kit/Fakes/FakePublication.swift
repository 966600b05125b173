import PawlBase
import PawlJournal
import Synchronization

/// The publication of a finished part file, step by step.
struct FakePublication: Sendable {
    private let disk: FakeDisk
    private let file: FakeFile
    private let claim: Claim
    private let name: String
    private let holder: Int
    private let length: Int
    private let modified: UnixTime?

    init(_ partial: FakePartial, length: Int, modified: UnixTime?) {
        disk = partial.disk
        file = partial.file
        claim = partial.claim
        name = partial.name
        holder = partial.holder
        self.length = length
        self.modified = modified
    }

    private func path(of name: String) -> String { claim.folder + "/" + name }
    private var isThere: Bool { file.contents.withLock { $0.holder == holder } }

    /// Completes with `nil` when a crash came first.
    func run(_ completion: @escaping @Sendable (Result<String, Failure>?) -> Void) {
        disk.later {
            do throws(Failure) {
                guard let final = try move() else { return completion(nil) }
                disk.later { completion(finish(final)) }
            } catch { completion(.failure(error)) }
        }
    }

    /// Truncates, syncs and renames.
    private func move() throws(Failure) -> String? {
        let part = path(of: name)
        guard isThere else { return nil }
        if let failure = disk.troubles.publish { throw failure }
        try disk.call(at: part)
        guard isThere else { return nil }
        let sabotage = disk.state.withLock { $0.sabotage }
        let written = file.contents.withLock { contents in
            contents.cut(to: min(length, contents.length))
            if sabotage == .cutsFiles { contents.length = max(0, length - 1) }
            contents.modified = sabotage == .undatesPartFiles ? nil : modified
            contents.synced(contents.written, length: contents.length)
            return contents.written
        }
        disk.state.withLock { $0.folder.sync(file) }
        if !written.contains(ByteRange(0, Int64(length))) {
            disk.violate(.published, "\(part): published with holes: \(written.runs) of \(length)")
        }
        guard let free = freeName() else {
            throw Failure(.fileExists, "cannot publish", at: part, because: "it exists")
        }
        try disk.call(at: part)
        guard isThere else { return nil }
        disk.state.withLock { $0.folder.publish(part, as: path(of: free)) }
        disk.timeline.note("disk: renamed to \(path(of: free))")
        return path(of: free)
    }

    /// Syncs the folder and removes the journal: the file is published, and no failure changes that.
    private func finish(_ final: String) -> Result<String, Failure>? {
        try? disk.call(at: final)
        guard isThere else { return nil }
        disk.state.withLock { $0.folder.sync() }
        file.contents.withLock { contents in
            contents.journal = nil
            contents.keeper = nil
            contents.holder = nil
        }
        disk.letGo(holder)
        disk.timeline.note("disk: published \(final)")
        if disk.state.withLock({ $0.sabotage }) == .litters {
            disk.state.withLock { $0.folder.make(file, at: path(of: name)) }
        }
        return .success(final)
    }

    private func freeName() -> String? {
        let finished = disk.state.withLock { $0.folder.finished }
        guard finished[path(of: name)] != nil else { return name }
        switch claim.ifExists {
        case .overwrite: return name
        case .skip, .fail, .resume: return nil
        case .rename: return (1...).lazy.map { FileName.numbered(name, $0) }.first { finished[path(of: $0)] == nil }
        }
    }
}
