import PawlCore
import PawlTestKit

/// One file that is downloaded under torture: where from, where to, and what may be done to it.
final class Victim {
    /// What is special about the download.
    enum Kind: String, CaseIterable {
        case faultOrigin = "fault origin"
        case link = "fault origin behind a cable"
        case smallDisk = "fault origin, small disk"
        case nginx = "nginx"
        case nginxTLS = "nginx over TLS"
        case wavering = "fault origin, with other options, mirrors and content after each kill"
    }

    /// What the next run is told, and what its server has.
    struct Wish {
        var content: Payload
        var range: ByteRange?
        var urls: [String]
        var connections: Int

        /// The range as `--range` takes it, and the addresses, the first one's mirrors after it.
        var arguments: [String] {
            (range.map { ["--range", "\($0.start)-\($0.end - 1)"] } ?? [])
                + urls.dropFirst().flatMap { ["--mirror", $0] } + ["-x", "\(connections)", urls[0]]
        }
    }

    let kind: Kind
    let name: String
    /// The next run's, where each has its own.
    var wish: Wish
    /// What each run was told, for the one who looks for the cause.
    private(set) var history: [String] = []
    let origin: PawlTestKit.Origin?
    let namespace: Namespace?
    let disk: MountedFolder?
    private let folder: TemporaryFolder?
    private let options: [String]

    /// Bytes that the next run has to know, when no process ran.
    var written = ByteRangeSet()
    /// Records of the origin that were looked at.
    var seen = 0

    init(
        _ kind: Kind,
        name: String,
        payload: Payload,
        connections: Int,
        url: String,
        origin: PawlTestKit.Origin? = nil,
        namespace: Namespace? = nil,
        options: [String] = []
    ) throws {
        self.kind = kind
        self.name = name
        wish = Wish(content: payload, urls: [url], connections: connections)
        self.origin = origin
        self.namespace = namespace
        self.options = options
        disk = kind == .smallDisk ? try MountedFolder(bytes: payload.length + 400_000) : nil
        folder = kind == .smallDisk ? nil : try TemporaryFolder()
    }

    var payload: Payload { wish.content }
    /// Whether every byte must be accounted for: one connection, and the same wish for every run.
    var isCounted: Bool { wish.connections == 1 && kind != .wavering }
    /// Whether the finished file has its name, whatever else there is.
    var isNamed: Bool { FileSystem.exists("\(place)/\(name)") }

    /// What is wrong with the finished file.
    var difference: String? {
        let path = "\(place)/\(name)"
        guard let range = wish.range else { return FileSystem.difference(of: path, from: payload) }
        return FileSystem.contents(path) == payload.bytes(in: range)
            ? nil : "\(path) is not bytes \(range) of what its server had"
    }

    /// Whether every byte that the last run wanted is there: only the name is missing, whatever the server has now.
    var isWhole: Bool { known.count == wish.range?.count ?? payload.length }

    var place: String { disk?.path ?? folder?.path ?? "" }
    /// Whether the file is in its place and nothing is left to do for it.
    var isPublished: Bool {
        FileSystem.exists("\(place)/\(name)") && !FileSystem.exists("\(place)/\(name).pawl")
    }
    var leftovers: [String] { FileSystem.names(in: place) }

    func start() throws -> PawlProcess {
        history.append("of \(payload.length) \(wish.arguments.joined(separator: " "))")
        let arguments =
            [
                "get", "--json", "--timeout", "2", "--retries", "60", "--retry-delay", "0.05",
            ]
            + ["-o", "\(place)/\(name)"] + options + wish.arguments
        return try namespace?.start(PawlBinary.path, arguments)
            ?? PawlProcess(PawlBinary.path, arguments, environment: ["HOME": place])
    }

    var journal: JournalImage? {
        FileSystem.contents("\(place)/\(name).pawl").flatMap { try? JournalImage($0) }
    }

    /// What the journal and the file's length say is there.
    var known: ByteRangeSet {
        let part = "\(place)/\(name).part"
        guard let journal, let length = FileSystem.size(part) else { return ByteRangeSet() }
        let changed = FileSystem.changed(part)
        return journal.trusted(boot: journal.header.boot, length: length, changed: changed)
    }

    /// How far the part file has the right bytes.
    var reached: Int64 { FileSystem.agreement(of: "\(place)/\(name).part", with: payload) ?? 0 }

    /// Where a kill has hit, as the files tell it.
    var phase: String {
        let isJournal = FileSystem.exists("\(place)/\(name).pawl")
        if FileSystem.exists("\(place)/\(name)") {
            return isJournal
                ? "moved to its name, its journal still there" : "finished, the program not yet gone"
        }
        guard isJournal || FileSystem.exists("\(place)/\(name).part") else { return "before any file" }
        guard let journal else { return "while the journal is made" }
        let count = journal.written.count
        return count == 0
            ? "before the first byte" : count == payload.length ? "whole, before the move" : "in the middle"
    }

    /// Takes all the room that is left, until `free`.
    func fill() {
        guard let disk else { return }
        try? FileSystem.write(
            [UInt8](repeating: 1, count: Int(payload.length) + 500_000),
            to: disk.path("filler")
        )
    }

    func free() { if let disk { FileSystem.remove(disk.path("filler")) } }
}
