import PawlBase
import PawlJournal
import PawlTestKit

/// One file that is downloaded under torture: its sources, its target, and the allowed disturbances.
final class Victim {
    /// The special conditions of the download.
    enum Kind: String, CaseIterable {
        case faultOrigin = "fault origin"
        case link = "fault origin behind a cable"
        case smallDisk = "fault origin, small disk"
        case nginx = "nginx"
        case nginxTLS = "nginx over TLS"
        case wavering = "fault origin, with other options, mirrors and content after each kill"
    }

    /// The options of the next run, and the content of its server.
    struct Order {
        var content: Payload
        var range: ByteRange?
        var urls: [String]
        var connections: Int

        /// The range as `--range` takes it, and the URLs, the first one followed by its mirrors.
        var arguments: [String] {
            (range.map { ["--range", "\($0.start)-\($0.end - 1)"] } ?? [])
                + urls.dropFirst().flatMap { ["--mirror", $0] } + ["-x", "\(connections)", urls[0]]
        }
    }

    let kind: Kind
    let name: String
    /// The options of the next run, if each has its own.
    var order: Order
    /// The arguments of each run, for debugging.
    private(set) var history: [String] = []
    let origin: OriginServer?
    let namespace: Namespace?
    let disk: MountedFolder?
    private let folder: TemporaryFolder?
    private let options: [String]

    /// Bytes that the next run must know, while no process runs.
    var written = ByteRangeSet()
    /// Records of the origin that were examined.
    var seen = 0

    init(
        _ kind: Kind, name: String, payload: Payload, connections: Int, url: String, origin: OriginServer? = nil,
        namespace: Namespace? = nil, options: [String] = []
    ) throws {
        self.kind = kind
        self.name = name
        order = Order(content: payload, urls: [url], connections: connections)
        self.origin = origin
        self.namespace = namespace
        self.options = options
        disk = kind == .smallDisk ? try MountedFolder(bytes: payload.length + 400_000) : nil
        folder = kind == .smallDisk ? nil : try TemporaryFolder()
    }

    var payload: Payload { order.content }
    /// Whether every byte must be accounted for: one connection, and the same request in every run.
    var isCounted: Bool { order.connections == 1 && kind != .wavering }
    /// Whether the finished file has its name, whatever other files exist.
    var isNamed: Bool { FileSystem.exists("\(place)/\(name)") }

    /// The fault of the finished file.
    var difference: String? {
        let path = "\(place)/\(name)"
        guard let range = order.range else { return FileSystem.difference(of: path, from: payload) }
        return FileSystem.contents(path) == payload.bytes(in: range)
            ? nil : "\(path) is not bytes \(range) of what its server had"
    }

    /// Whether every byte that the last run requested is there: only the name is missing, whatever the server has now.
    var isWhole: Bool { known.count == order.range?.count ?? payload.length }

    var place: String { disk?.path ?? folder?.path ?? "" }
    /// Whether the file is in its place and complete.
    var isPublished: Bool { FileSystem.exists("\(place)/\(name)") && !FileSystem.exists("\(place)/\(name).pawl") }
    var leftovers: [String] { FileSystem.names(in: place) }

    func start() throws -> PawlProcess {
        history.append("of \(payload.length) \(order.arguments.joined(separator: " "))")
        let arguments =
            ["get", "--json", "--timeout", "2", "--retries", "60", "--retry-delay", "0.05"] + [
                "-o", "\(place)/\(name)",
            ] + options + order.arguments
        return try namespace?.start(PawlBinary.path, arguments)
            ?? PawlProcess(PawlBinary.path, arguments, environment: ["HOME": place])
    }

    var journal: JournalImage? { FileSystem.contents("\(place)/\(name).pawl").flatMap { try? JournalImage($0) } }

    /// The bytes on disk, by the journal and the file's length.
    var known: ByteRangeSet {
        let part = "\(place)/\(name).part"
        guard let journal, let length = FileSystem.size(part) else { return ByteRangeSet() }
        let changed = FileSystem.changed(part)
        return journal.trusted(boot: journal.header.boot, length: length, changed: changed)
    }

    /// The length of the correct prefix of the part file.
    var reached: Int64 { FileSystem.agreement(of: "\(place)/\(name).part", with: payload) ?? 0 }

    /// The state that a kill has hit, as seen from the files.
    var phase: String {
        let isJournal = FileSystem.exists("\(place)/\(name).pawl")
        if FileSystem.exists("\(place)/\(name)") {
            return isJournal ? "moved to its name, its journal still there" : "finished, the program not yet gone"
        }
        guard isJournal || FileSystem.exists("\(place)/\(name).part") else { return "before any file" }
        guard let journal else { return "while the journal is made" }
        let count = journal.written.count
        return count == 0
            ? "before the first byte" : count == payload.length ? "whole, before the move" : "in the middle"
    }

    /// Fills the disk except for `free` bytes.
    func fill() {
        guard let disk else { return }
        try? FileSystem.write([UInt8](repeating: 1, count: Int(payload.length) + 500_000), to: disk.path("filler"))
    }

    func free() { if let disk { FileSystem.remove(disk.path("filler")) } }
}
