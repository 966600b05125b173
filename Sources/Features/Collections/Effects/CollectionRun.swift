import Glibc
package import PawlBase
import PawlDisk
import PawlJournal
import PawlSystem

/// Lists a collection: blocks its thread, and gives what it finds to a ``ListingSink``.
package protocol CollectionLister: Sendable {
    /// The collection's URL, for messages.
    var source: String { get }
    /// Where the files belong, in place of the user's folder.
    var folder: String? { get }
    /// Throws what ended the listing before its end.
    func list(into sink: ListingSink) throws(Failure)
    /// The URLs that a path may have had in the collection; `nil` where paths do not tell them.
    func addresses(of path: String) -> [String]?
}

extension CollectionLister {
    package var folder: String? { nil }
    package func addresses(of path: String) -> [String]? { nil }
}

/// An entry, and what the folder has of it.
package struct PlannedEntry: Hashable, Sendable {
    /// What the folder has.
    package enum State: Hashable, Sendable {
        /// Nothing, or a file that was not made from the entry.
        case missing
        /// The entry as it is: shown by validators (`isProven`), or by length and time.
        case unchanged(isProven: Bool)
        /// A file that was made from the entry, as it was then or as it is: only the server can say.
        case perhapsOutdated(FileStamp)
        /// The entry as it was.
        case outdated(FileStamp)

        /// Whether a request is made for it.
        package var isFetched: Bool { if case .unchanged = self { false } else { true } }
    }

    package var entry: CollectionEntry
    package var state: State
}

/// What a listing has found, in its order.
package enum ListingEvent: Sendable {
    case entry(PlannedEntry)
    /// An entry that cannot be a file, or a folder that could not be listed.
    case refused(Failure)
    /// What the user should know, though nothing failed.
    case notice(String)
}

/// The numbers of a listing.
package struct ListingTally: Hashable, Sendable {
    package var files = 0
    package var folders = 0
    /// Of the files whose size the listing states.
    package var bytes: Int64 = 0
    /// Files that the folder has already.
    package var unchanged = 0
    /// Those of them that were compared by length and time only, as the server says nothing better.
    package var byTime = 0
    package var refused = 0
    /// Whether files may exist that were not listed.
    package var isPartial = false
    /// What ended it before its end.
    package var failure: Failure?
    package var isOver = false

    package init() {}
}

/// What became of a file that a listing waits for.
package enum AwaitedFile: Hashable, Sendable {
    /// The entry's file is at this path.
    case file(String)
    /// A file of this name was there, which may be another one.
    case other
    case missing

    /// Nothing was received if it `wasThere`, and `state` is what the folder had before.
    package init(_ path: String, wasThere: Bool, before state: PlannedEntry.State) {
        self = wasThere && state == .missing ? .other : .file(path)
    }
}

/// Where a lister puts what it finds: a queue of limited length, from the lister's thread to that of the downloads.
package final class ListingSink: Sendable {
    private struct State {
        var events: [ListingEvent] = []
        var tally = ListingTally()
        var isStopped = false
        /// Hashes of the paths of files.
        var paths: Set<UInt64> = []
        /// The path of the entry that the lister waits for, and what became of it.
        var awaited: (path: String, outcome: AwaitedFile?)?
        var completion: Completion?
    }

    /// Returns what the user should know.
    package typealias Completion = @Sendable () throws(Failure) -> String?

    /// So many events wait at most.
    private static let room = 2_048

    private let state = Monitor(State())
    private let plan: @Sendable (CollectionEntry) -> PlannedEntry.State
    private let present: @Sendable (CollectionEntry, Int) -> [UInt8]?
    private let remembersPaths: Bool
    private let onChange: @Sendable () -> Void
    /// Whether the reader tells what becomes of entries that are waited for.
    private let settles: Bool
    /// Whether files are written afterwards.
    package let isForDownload: Bool

    fileprivate init(
        remembersPaths: Bool, isForDownload: Bool, settles: Bool,
        plan: @escaping @Sendable (CollectionEntry) -> PlannedEntry.State,
        present: @escaping @Sendable (CollectionEntry, Int) -> [UInt8]?, onChange: @escaping @Sendable () -> Void
    ) {
        self.plan = plan
        self.present = present
        self.remembersPaths = remembersPaths
        self.isForDownload = isForDownload
        self.settles = settles
        self.onChange = onChange
    }

    /// Whether nothing more is wanted.
    package var isStopped: Bool { state.read(\.isStopped) }

    /// Waits for room; `false` if nothing more is wanted.
    ///
    /// The entries of a page belong together: the reader sees all of their names before it fetches one.
    @discardableResult package func put(_ entries: [CollectionEntry]) -> Bool {
        let planned = entries.map { PlannedEntry(entry: $0, state: plan($0)) }
        let isTaken = state.wait(until: nil) { state -> Bool? in
            if state.isStopped { return false }
            guard state.events.count < Self.room else { return nil }
            for entry in planned { self.add(entry, to: &state) }
            return true
        }
        // Waiting for room wakes nobody: the reader may wait for this entry.
        state.with { _ in }
        onChange()
        return isTaken ?? false
    }

    private func add(_ planned: PlannedEntry, to state: inout State) {
        state.events.append(.entry(planned))
        if planned.entry.kind == .folder {
            state.tally.folders += 1
        } else {
            state.tally.files += 1
            state.tally.bytes = state.tally.bytes.addingClamped(planned.entry.size ?? 0)
            if remembersPaths { state.paths.insert(CRC64.value(of: planned.entry.path.utf8)) }
        }
        if case .unchanged(let isProven) = planned.state {
            state.tally.unchanged += 1
            if !isProven { state.tally.byTime += 1 }
        }
    }

    package func refuse(_ failure: Failure) {
        state.with { state in
            state.events.append(.refused(failure))
            state.tally.refused += 1
            state.tally.isPartial = true
        }
        onChange()
    }

    package func tell(_ notice: String) {
        state.with { $0.events.append(.notice(notice)) }
        onChange()
    }

    /// The content of an entry's file, if the folder has it as the listing states it; at most `limit` bytes.
    package func content(of entry: CollectionEntry, atMost limit: Int) -> [UInt8]? { present(entry, limit) }

    /// Puts an entry, and waits for its file; `nil` where nobody would tell of it: then the entry is not put.
    package func file(of entry: CollectionEntry) -> AwaitedFile? {
        guard settles else { return nil }
        state.with { $0.awaited = (entry.path, nil) }
        put([entry])
        defer { state.with { $0.awaited = nil } }
        return state.wait(until: nil) { $0.isStopped ? .missing : $0.awaited?.outcome }
    }

    fileprivate func awaits(_ path: String) -> Bool {
        settles && state.read { $0.awaited?.path.hasSameBytes(as: path) ?? false }
    }

    fileprivate func settle(_ path: String, _ file: AwaitedFile) {
        state.with { state in
            guard state.awaited?.path.hasSameBytes(as: path) == true else { return }
            state.awaited?.outcome = file
        }
    }

    /// Files may exist that were not listed.
    package func markPartial() { state.with(waking: .none) { $0.tally.isPartial = true } }

    /// What is done when the entries were downloaded, also if some could not be.
    package func follow(with completion: @escaping Completion) {
        state.with(waking: .none) { $0.completion = completion }
    }

    fileprivate var completion: Completion? { state.read(\.completion) }

    fileprivate func end(_ failure: Failure?) {
        state.with { state in
            state.tally.failure = failure
            state.tally.isOver = true
            if failure != nil { state.tally.isPartial = true }
        }
        onChange()
    }

    fileprivate func stop() { state.with { $0.isStopped = true } }

    fileprivate func take() -> [ListingEvent] {
        state.with { state in
            defer { state.events = [] }
            return state.events
        }
    }

    fileprivate func waitForChange() {
        _ = state.wait(until: nil) { !$0.events.isEmpty || $0.tally.isOver ? true : nil }
    }

    fileprivate var tally: ListingTally { state.read(\.tally) }
    fileprivate func hasListed(_ path: String) -> Bool {
        state.read { $0.paths.contains(CRC64.value(of: path.utf8)) }
    }
}

/// A listing that runs on a thread of its own, while what it found is fetched.
package final class CollectionRun: Sendable {
    private let sink: ListingSink
    private let lister: any CollectionLister

    /// Prepares a listing; ``start()`` begins it.
    ///
    /// `folder`: where the files are to be; `nil` if nothing is compared. `isForDownload`: whether ``complete()`` follows.
    /// `settles`: whether ``settle(_:_:)`` is called for each entry that it ``awaits(_:)``.
    /// `onChange` is called on the lister's thread.
    package init(
        _ lister: any CollectionLister, into folder: String?, remembersPaths: Bool = false, isForDownload: Bool = false,
        settles: Bool = false, onChange: @escaping @Sendable () -> Void = {}
    ) {
        self.lister = lister
        let disk = folder.map { _ in FileDisk(notice: { _ in }) }
        sink = ListingSink(
            remembersPaths: remembersPaths, isForDownload: isForDownload, settles: settles,
            plan: { entry in
                guard let disk, let folder, entry.kind != .folder else { return .missing }
                let state = disk.state(of: entry, in: folder)
                if isForDownload, case .unchanged = state {
                    let whole = "\(folder)/\(entry.file)"
                    disk.tidy(whole.pathParts().last.map(String.init) ?? whole, in: FolderPath.parent(of: whole))
                }
                return state
            },
            present: { entry, limit in
                guard let disk, let folder, case .unchanged = disk.state(of: entry, in: folder) else { return nil }
                let bytes = try? BoundedRead.file("\(folder)/\(entry.file)", atMost: limit, isRegular: true)
                // One that was changed while it was read is not what was listed.
                guard case .unchanged = disk.state(of: entry, in: folder) else { return nil }
                return bytes
            }, onChange: onChange)
    }

    package var source: String { lister.source }
    /// See ``CollectionLister/addresses(of:)``.
    package func addresses(of path: String) -> [String]? { lister.addresses(of: path) }

    /// What follows at the end, once every entry was downloaded or has failed; returns what the user should know.
    package func complete() throws(Failure) -> String? { try sink.completion?() }

    package func start() {
        SystemThread.detached("pawl-listing", blocksSignals: true) { [sink, lister] in
            do throws(Failure) {
                try lister.list(into: sink)
                sink.end(nil)
            } catch { sink.end(error) }
        }
    }

    /// What was found since the last call.
    package func take() -> [ListingEvent] { sink.take() }
    /// Blocks until something was found, or the listing is over.
    package func waitForChange() { sink.waitForChange() }
    package var tally: ListingTally { sink.tally }
    /// Whether a path was among the files, in a run that remembers them.
    package func hasListed(_ path: String) -> Bool { sink.hasListed(path) }
    package func stop() { sink.stop() }

    /// Whether the lister waits for the file at a path of its entries.
    package func awaits(_ path: String) -> Bool { sink.awaits(path) }
    /// Tells what became of that file.
    package func settle(_ path: String, _ file: AwaitedFile) { sink.settle(path, file) }

    /// Runs it to its end and gives everything to `body`, on the caller's thread; returns the numbers.
    package func read(_ body: (ListingEvent) -> Void) -> ListingTally {
        start()
        while true {
            let tally = tally
            for event in take() { body(event) }
            if tally.isOver { return tally }
            waitForChange()
        }
    }
}

extension PlannedEntry.State {
    fileprivate init(_ file: ListedFile) {
        self =
            switch file {
            case .unknown: .missing
            case .unchanged(let isProven): .unchanged(isProven: isProven)
            case .perhapsOutdated(let stamp): .perhapsOutdated(stamp)
            case .outdated(let stamp): .outdated(stamp)
            }
    }
}

extension FileDisk {
    /// What the folder has of an entry.
    fileprivate func state(of entry: CollectionEntry, in folder: String) -> PlannedEntry.State {
        let whole = "\(folder)/\(entry.file)"
        let (parent, name) = (FolderPath.parent(of: whole), whole.pathParts().last.map(String.init) ?? whole)
        guard entry.proof != .facts else {
            let state = PlannedEntry.State(listedFile(entry, name, in: parent))
            guard case .unchanged = state, entry.digest != nil || entry.needsDigest else { return state }
            let isRight = entry.digest.map { holds($0, whole) } ?? false
            return isRight ? .unchanged(isProven: true) : stamp(of: name, in: parent).map { .outdated($0) } ?? .missing
        }
        var found = stat()
        guard unsafe stat(whole, &found) == 0, found.st_mode & S_IFMT == S_IFREG, Int64(found.st_size) == entry.size
        else {
            return .missing
        }
        if entry.proof == .name { return .unchanged(isProven: true) }
        if let pieces = entry.pieces {
            let wrong = try? FileHashing(Array(whole.utf8)).wrongPieces(pieces, total: entry.size ?? 0)
            return wrong?.isEmpty == true ? .unchanged(isProven: true) : .missing
        }
        guard let checksum = entry.checksum.flatMap({ Checksum(text: $0) }), isRight(checksum, whole) else {
            return .missing
        }
        return .unchanged(isProven: true)
    }

    private func holds(_ digest: ExpectedDigest, _ file: String) -> Bool {
        ([digest.checksum] + digest.alternatives).contains { isRight($0, file) }
    }

    private func isRight(_ checksum: Checksum, _ file: String) -> Bool {
        let digests = try? FileHashing(Array(file.utf8)).digests([checksum.algorithm], progress: { _ in true })
        return digests?.first == checksum.digest
    }

    private func listedFile(_ entry: CollectionEntry, _ name: String, in folder: String) -> ListedFile {
        guard let address = try? WebAddress.parse(entry.address).address else { return .unknown }
        let validators = Validators(
            entityTag: entry.entityTag.map { EntityTag(opaque: $0, isWeak: false) }, lastModified: entry.modified,
            date: nil)
        let content = ContentFingerprint(
            source: address.text, host: address.origin.text, selection: .whole, validators: validators)
        var facts = ListedFacts(source: address.text, content: content)
        if entry.isExact { facts.length = entry.size }
        (facts.modified, facts.timeStep) = (entry.modified, entry.timeStep)
        return listedFile(name, in: folder, facts)
    }
}
