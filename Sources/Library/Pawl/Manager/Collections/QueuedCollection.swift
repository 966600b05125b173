#if Queue
package import PawlBase

/// A collection in the queue: what was asked for, and how far it is.
///
/// Its files are downloads of the group that has its id: at most ``room`` of them at once wait or run. What has finished leaves
/// the queue and is counted; what failed stays, to be seen and resumed. After a restart the collection is listed anew, and the
/// folder tells what is there already.
package struct QueuedCollection: Hashable, Sendable {
    package enum Phase: String, Hashable, Sendable {
        case active
        case ended
        /// It is being removed; that goes on after a kill.
        case leaving
    }

    /// So many of its files wait or run at most.
    package static let room = 200
    /// With more failures than this it ends: something is wrong with all of them.
    package static let mostFailures = 1_000
    /// So many collections may be in the queue.
    package static let most = 1_000

    /// Begins with `g`, so that it is no download's, and 15 hexadecimal digits.
    package let id: String
    /// With its secrets.
    @Bytewise package var source: String
    package var listing: ListingOptions
    /// Those of each file; the folder is relative to the root.
    package var options: DownloadOptions
    package var priority: Int
    package var addedAt: UnixTime
    package var endedAt: UnixTime?
    package var phase = Phase.active
    package var counts = Counts()
    /// Why it ended before its end, or could not be completed.
    package var failure: Failure?

    package struct Counts: Hashable, Sendable {
        /// Files that were listed, and their bytes as far as the listing has them.
        package var listed = 0
        package var bytes: Int64 = 0
        package var isListed = false
        /// Files that are complete, with those that were there already, and their bytes.
        package var done = 0
        package var written: Int64 = 0
        /// Entries that cannot be files, and folders that could not be listed.
        package var refused = 0
        /// Downloads that failed, when it ended.
        package var failed = 0

        package init() {}
    }

    package init(
        id: String, source: String, listing: ListingOptions, options: DownloadOptions, priority: Int, addedAt: UnixTime
    ) {
        self.id = id
        self.listing = listing
        self.options = options
        self.priority = priority
        self.addedAt = addedAt
        self.source = source
    }

    static func freshID() -> String {
        let digits = String(UInt64.random(in: 0..<(1 << 60)), radix: 16)
        return "g" + String(repeating: "0", count: 15 - digits.utf8.count) + digits
    }

    /// Whether a text is an id of collections, or its beginning.
    package static func isID(_ text: String) -> Bool { text.utf8.first == UInt8(ascii: "g") }

    /// Whether a group's name is the id of a collection.
    package static func isGroup(_ name: String) -> Bool {
        isID(name) && name.utf8.count == 16 && name.utf8.dropFirst().allSatisfy { $0.hexValue != nil }
    }

    /// What is done next.
    package enum Step: Hashable, Sendable {
        /// So many of the files that are known are added.
        case add(Int)
        case wait
        case end
        /// Too many have failed.
        case giveUp
    }

    /// `waiting` and `failed`: its downloads that have not ended, and have failed; `known`: files that are listed and not added.
    package func step(waiting: Int, failed: Int, known: Int) -> Step {
        if failed + counts.refused >= Self.mostFailures { return .giveUp }
        if known == 0, waiting == 0, counts.isListed { return .end }
        let count = min(known, Self.room - waiting)
        return count > 0 ? .add(count) : .wait
    }

    /// Why it is not complete although all was tried; `nil` if nothing failed.
    ///
    /// `first`: why the first of its files failed, if that is known.
    package func failure(becauseOf first: Failure?) -> Failure? {
        let count = counts.failed + counts.refused
        guard count > 0 else { return nil }
        let place = Redaction.address(source)
        guard let first else {
            return Failure(
                .unknown, "cannot download all of", at: place,
                because: LocalizableMessage("collection-files-failed", "\(count) of its files failed"))
        }
        return Failure(
            first.code, "cannot download all of", at: place,
            because: LocalizableMessage(
                "collection-first-failed", "\(count) of its files failed, the first because: \(first)"))
    }

    /// The last part of its folder, or the name of its torrent: several may go into one folder.
    package var name: String {
        (CollectionSource.nameOfTorrent(in: source) ?? options.folder).pathParts().last.map(String.init)
            ?? Redaction.address(source)
    }
}

// The stored form; secrets included.
extension QueuedCollection {
    package var json: JSON {
        var stored = StoredOptions()
        stored.options = options
        var members = [
            JSON.Member("id", .string(id)), JSON.Member("url", .string(source)), JSON.Member("listing", listing.json),
            JSON.Member("options", .string(stored.text)), JSON.Member("folder", .string(options.folder)),
            JSON.Member("priority", .number(priority)), JSON.Member("added", .number(addedAt.seconds)),
            JSON.Member("phase", .string(phase.rawValue)),
        ]
        if !options.mirrors.isEmpty {
            members.append(JSON.Member("mirrors", .array(options.mirrors.map { .string($0) })))
        }
        // Of one that is paused, what was known then.
        if counts != Counts() || phase == .ended {
            members += [
                JSON.Member("ended", endedAt.map { .number($0.seconds) } ?? .null),
                JSON.Member("listed", .number(counts.listed)), JSON.Member("bytes", .number(counts.bytes)),
                JSON.Member("isListed", .bool(counts.isListed)), JSON.Member("done", .number(counts.done)),
                JSON.Member("written", .number(counts.written)), JSON.Member("refused", .number(counts.refused)),
                JSON.Member("failed", .number(counts.failed)),
            ]
            if let failure { members.append(JSON.Member("failure", failure.stored)) }
        }
        return .object(members)
    }

    /// `nil` for what this version cannot read.
    package init?(_ json: JSON) {
        guard let id = json["id"]?.string, Self.isID(id), let source = json["url"]?.string,
            let listing = try? ListingOptions(json["listing"] ?? [:]), let folder = json["folder"]?.string,
            let phase = json["phase"]?.string.flatMap(Phase.init)
        else { return nil }
        var options = StoredOptions(text: json["options"]?.string ?? "").options
        options.folder = folder
        options.mirrors = json["mirrors"]?.array?.compactMap(\.string) ?? []
        func number(_ name: String) -> Int64 { json[name]?.integer ?? 0 }
        func count(_ name: String) -> Int { Int(clamping: number(name)) }
        self.init(
            id: id, source: source, listing: listing, options: options, priority: count("priority"),
            addedAt: UnixTime(seconds: number("added")))
        self.phase = phase
        endedAt = json["ended"]?.integer.map { UnixTime(seconds: $0) }
        (counts.listed, counts.done, counts.refused) = (count("listed"), count("done"), count("refused"))
        (counts.bytes, counts.written, counts.failed) = (number("bytes"), number("written"), count("failed"))
        counts.isListed = json["isListed"]?.bool ?? false
        failure = json["failure"].flatMap { Failure(stored: $0) }
        // As an earlier version stored it.
        if failure == nil, let error = json["error"]?.string {
            failure = Failure(
                Failure.Code(rawValue: UInt8(clamping: number("code"))), "cannot download",
                at: Redaction.address(source), because: error)
        }
    }
}
#endif
