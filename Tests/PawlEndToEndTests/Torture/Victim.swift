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
    }

    let kind: Kind
    let name: String
    let payload: Payload
    let connections: Int
    let url: String
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
        self.payload = payload
        self.connections = connections
        self.url = url
        self.origin = origin
        self.namespace = namespace
        self.options = options
        disk = kind == .smallDisk ? try MountedFolder(bytes: payload.length + 400_000) : nil
        folder = kind == .smallDisk ? nil : try TemporaryFolder()
    }

    var place: String { disk?.path ?? folder?.path ?? "" }
    /// Whether the file is in its place and nothing is left to do for it.
    var isPublished: Bool {
        FileSystem.exists("\(place)/\(name)") && !FileSystem.exists("\(place)/\(name).pawl")
    }
    var leftovers: [String] { FileSystem.names(in: place) }

    func start() throws -> PawlProcess {
        let arguments =
            [
                "get", "--json", "--timeout", "2", "--retries", "60", "--retry-delay", "0.05",
            ]
            + ["-x", "\(connections)", "-d", place] + options + [url]
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
