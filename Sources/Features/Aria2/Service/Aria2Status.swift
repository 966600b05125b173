import Pawl
import PawlBase

/// A download in the format of aria2's `tellStatus`.
package struct Aria2Status {
    let details: DownloadDetails
    let options: Aria2Options
    let root: String
    /// Whether failures have the codes that aria2c gives them.
    let isStandIn: Bool
    /// The downloads of the files of this Metalink.
    var followers: [Download.ID] = []

    /// The piece length of the bit field, doubled until a large file no longer has millions of pieces.
    static func pieceLength(of total: Int64, wanted: Int64 = 1 << 20) -> Int64 {
        var length = max(1, wanted)
        while total / length >= 1 << 20 { length *= 2 }
        return length
    }

    /// The piece length of a Metalink, else as requested, else aria2's default.
    private var pieceLength: Int64 {
        Aria2Status.pieceLength(
            of: snapshot.total ?? 0, wanted: details.pieceLength ?? options.number("piece-length") ?? 1 << 20)
    }

    /// Whether the requested keys depend on which bytes are on disk.
    static func needsRanges(_ keys: Set<String>) -> Bool {
        keys.isEmpty || keys.contains("bitfield") || keys.contains("files")
    }

    var snapshot: DownloadSnapshot { details.snapshot }

    var isOver: Bool { ["complete", "error", "removed"].contains(Aria2Status.word(snapshot.state)) }

    private var isStarted: Bool { !["waiting", "paused"].contains(Aria2Status.word(snapshot.state)) }

    /// The requested keys; all if none were given.
    func json(keys: Set<String>) -> JSON {
        var members: [JSON.Member] = []
        for member in all where keys.isEmpty || keys.contains(member.name) { members.append(member) }
        // Always returned.
        if snapshot.state == .verifying || details.isCheckingFile {
            members.append(JSON.Member("verifiedLength", .string(String(details.verified))))
        } else if details.checksExistingFile, snapshot.state == .waiting {
            members.append(JSON.Member("verifyIntegrityPending", "true"))
        }
        return .object(members)
    }

    private var all: [JSON.Member] {
        var members: [JSON.Member] = []
        func set(_ name: String, _ value: String) { members.append(JSON.Member(name, .string(value))) }
        let total = snapshot.total ?? 0
        let pieces = total / pieceLength + (total % pieceLength > 0 ? 1 : 0)
        set("gid", snapshot.id.description)
        set("status", Aria2Status.word(snapshot.state))
        set("totalLength", String(total))
        set("completedLength", String(details.isCheckingFile ? total : snapshot.written))
        set("uploadLength", "0")
        if total > 0 { set("bitfield", bitfield(pieces: Int(pieces))) }
        set("downloadSpeed", String(snapshot.speed))
        set("uploadSpeed", "0")
        set("connections", String(snapshot.connections))
        set("pieceLength", String(pieceLength))
        set("numPieces", String(pieces))
        switch snapshot.state {
        case .finished:
            set("errorCode", "0")
            set("errorMessage", snapshot.file == .changed ? "its path is not the downloaded file any more" : "")
        case .failed:
            set("errorCode", String(errorCode))
            set("errorMessage", snapshot.error?.description ?? "")
        case .removed:
            set("errorCode", "31")
            set("errorMessage", "")
        case .waitingForDisk: set("errorMessage", snapshot.error?.description ?? "")
        case .waiting, .probing, .transferring, .waitingForNetwork, .verifying, .publishing, .paused, .preempted: break
        }
        if !followers.isEmpty {
            members.append(JSON.Member("followedBy", .array(followers.map { .string($0.description) })))
        }
        if let leader = details.options.attributes[Aria2Methods.followingMark] { set("following", leader) }
        members += torrentMembers
        set("dir", folder)
        members.append(JSON.Member("files", .array([file] + furtherFiles)))
        return members
    }

    private var errorCode: UInt8 {
        guard let error = snapshot.error else { return 1 }
        guard isStandIn else { return error.code.rawValue }
        return Aria2cExit.code(of: error, mostNotFound: options.number("max-file-not-found") ?? 0)
    }

    /// The folders that `out` names, which are not part of `dir`.
    private var namedFolders: ArraySlice<Substring> {
        let named = (options["out"] ?? "").pathParts().filter { $0 != "." }.dropLast()
        return snapshot.folder.pathParts().suffix(named.count) == named ? named : []
    }

    /// The value of `dir`.
    var folder: String {
        let folders = snapshot.folder.pathParts().dropLast(namedFolders.count)
        return Aria2Status.join(root, folders.joined(separator: "/"))
    }

    /// The value of `out`; `nil` if it was not given.
    var out: String? { details.options.fileName.map { (namedFolders + [$0[...]]).joined(separator: "/") } }

    static func word(_ state: DownloadState) -> String {
        switch state {
        case .waiting, .waitingForDisk, .preempted: "waiting"
        case .probing, .transferring, .waitingForNetwork, .verifying, .publishing: "active"
        case .paused: "paused"
        case .finished: "complete"
        case .failed: "error"
        case .removed: "removed"
        }
    }

    var file: JSON {
        let path = snapshot.name.map { Aria2Status.join(root, snapshot.folder, $0) } ?? ""
        return [
            "index": "1", "path": .string(path), "length": .string(String(snapshot.total ?? 0)),
            "completedLength": .string(String(completedPieces)), "selected": "true", "uris": uris,
        ]
    }

    /// Those of a stream whose sound or subtitles are apart.
    private var furtherFiles: [JSON] {
        details.files.filter { $0 != snapshot.name }.enumerated().map { index, name in
            let length = details.lengths[name] ?? 0
            return [
                "index": .string(String(index + 2)), "path": .string(Aria2Status.join(root, snapshot.folder, name)),
                "length": .string(String(length)), "completedLength": .string(String(length)), "selected": "true",
                "uris": .array([]),
            ]
        }
    }

    /// The first source is in use while the download runs; when it is complete, it is waiting again as well, and when it
    /// has failed, all were used.
    var uris: JSON {
        let (isFailed, isComplete) = (snapshot.state == .failed, snapshot.state == .finished)
        var uris = details.sources.enumerated().map { index, source -> JSON in
            let isUsed = isFailed || index == 0 && isStarted
            return ["uri": .string(source), "status": isUsed ? "used" : "waiting"]
        }
        if isComplete { uris.insert(["uri": .string(details.sources[0]), "status": "waiting"], at: 1) }
        return .array(uris)
    }

    /// A bit for each whole piece that is on disk, the highest bit of a digit first.
    private func bitfield(pieces: Int) -> String {
        var digits = [UInt8](repeating: 0, count: (pieces + 7) / 8 * 2)
        for piece in wholePieces.joined() where piece < pieces { digits[Int(piece / 4)] |= 8 >> UInt8(piece % 4) }
        return digits.map { String($0, radix: 16) }.joined()
    }

    /// A file that was there counts as aria2 has it: until it is found to be wrong.
    private var written: [Range<Int64>] { details.isCheckingFile ? [0..<(snapshot.total ?? 0)] : details.written }

    /// Numbers of the pieces that are whole; the last one may be shorter.
    private var wholePieces: [Range<Int64>] {
        let length = pieceLength
        return written.map { range in
            let start = (range.lowerBound + length - 1) / length
            let rest = range.upperBound == snapshot.total ? length - 1 : 0
            return start..<max(start, (range.upperBound + rest) / length)
        }
    }

    private var completedPieces: Int64 {
        let length = pieceLength
        return wholePieces.reduce(0) { sum, pieces in
            let end = min(pieces.upperBound * length, snapshot.total ?? .max)
            return sum + max(0, end - pieces.lowerBound * length)
        }
    }

    static func join(_ parts: String...) -> String { parts.filter { !$0.isEmpty }.joined(separator: "/") }
}
