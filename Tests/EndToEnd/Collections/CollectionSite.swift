import Glibc
import PawlTestKit
import Testing

/// A tree of files that a server has, and a folder to mirror it into.
struct CollectionSite {
    let served: ServedFolder
    let downloads: TemporaryFolder
    /// Paths below `pub`, with their contents.
    var files: [String: Payload] = [:]

    static let plain = [
        "a.bin", "b c.bin", "sub/d.bin", "sub/deep/e.bin", "sub/deep/caf\u{E9} #1?.bin", "100%.bin", "a&b;c=d+e.bin",
        "a.bin.part",
        "a-name-of-more-than-fifty-characters-that-nginx-and-apache-cut-off-in-the-text-of-their-pages.tar.gz",
    ]

    init(_ paths: [String] = plain) throws {
        served = try ServedFolder()
        downloads = try TemporaryFolder()
        for (index, path) in paths.enumerated() {
            try add(path, Payload(seed: UInt64(index) + 1, length: Int64(1_000 + index * 7_001)))
        }
    }

    mutating func add(_ path: String, _ payload: Payload, modified: Int64 = ServedFolder.modified) throws {
        files[path] = payload
        var folder = served.path
        for part in ("pub/" + path).split(separator: "/").dropLast() {
            folder += "/\(part)"
            unsafe mkdir(folder, 0o755)
        }
        try served.add("pub/" + path, payload, modified: modified)
    }

    mutating func remove(_ path: String) {
        files[path] = nil
        unsafe unlink("\(served.path)/pub/\(path)")
    }

    /// Starts `pawl get --recursive` into the folder `d`.
    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path,
            ["get", "--recursive", "--json", "-d", "d", "--retry-delay", "0.01", "--retries", "2"] + arguments,
            environment: ["HOME": downloads.path].merging(environment) { $1 }, folder: downloads.path)
    }

    func get(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
        Outcome(of: try start(arguments, environment: environment))
    }

    /// What differs between the tree and the folder; `nil` for nothing.
    func difference(besides others: Set<String> = []) -> String? {
        for (path, payload) in files {
            if let difference = downloads.difference("d/" + path, from: payload) { return "\(path): \(difference)" }
        }
        let found = Set(Self.paths(in: downloads.path("d")))
        let expected = Set(files.keys).union(others)
        return found == expected ? nil : "there are \(found.symmetricDifference(expected).sorted())"
    }

    static func paths(in folder: String) -> [String] {
        FileSystem.names(in: folder).flatMap { name -> [String] in
            let below = paths(in: "\(folder)/\(name)")
            var found = stat()
            let isFolder = unsafe lstat("\(folder)/\(name)", &found) == 0 && found.st_mode & S_IFMT == S_IFDIR
            return isFolder ? below.map { "\(name)/\($0)" } : [name]
        }
    }
}
