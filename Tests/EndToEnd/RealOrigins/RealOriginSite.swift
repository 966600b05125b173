import Glibc
import PawlTestKit

/// The base of every test with a real origin: a folder of files that it serves, and one to download into.
struct RealOriginSite {
    let served: ServedFolder
    let downloads: TemporaryFolder
    /// 6 MiB and a bit, so that no part of it ends on a round offset.
    let content = Payload(seed: 0xF11E, length: 6 * 1_048_576 + 4321)
    let name = "content.bin"

    init() throws {
        served = try ServedFolder()
        downloads = try TemporaryFolder()
        try served.add(name, content)
    }

    /// Starts `pawl get` with the folder for downloads.
    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> PawlProcess {
        try PawlProcess(
            PawlBinary.path, ["get", "--dir", downloads.path] + arguments,
            environment: ["HOME": downloads.path].merging(environment) { $1 }, folder: downloads.path)
    }

    /// Runs `pawl get` to its end.
    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> PawlProcess {
        try run(arguments, environment: environment)
    }

    func run(_ arguments: [String], environment: [String: String] = [:]) throws -> PawlProcess {
        let process = try start(arguments, environment: environment)
        process.wait()
        return process
    }

    /// Starts `pawl get` and kills it once it reports bytes on disk, short of the end; returns the bytes
    /// reported on disk.
    func runAndKillInTheMiddle(_ arguments: String..., environment: [String: String] = [:]) throws -> Int64? {
        let process = try start(["--json"] + arguments, environment: environment)
        var said: Int64?
        process.line { line in
            guard line.contains("\"event\":\"progress\""), let written = Self.number("written", in: line), written > 0,
                written < content.length
            else { return false }
            said = written
            return true
        }
        process.send(SIGKILL)
        guard process.wait() == .signal(SIGKILL) else { return nil }
        return said
    }

    /// Replaces the served file by one shorter than anything that a run left on disk.
    func shorten() throws -> Payload {
        let shorter = Payload(seed: 0x5404, length: 4321)
        try served.add(name, shorter)
        return shorter
    }

    /// The fault of a finished download: the file's bytes, its time, something left behind.
    func complaint(_ process: PawlProcess, time: Int64? = ServedFolder.modified) -> String? {
        guard process.exit == .code(0) else { return "exit \(String(describing: process.exit)): \(process.errors)" }
        if let difference = downloads.difference(name, from: content) { return difference }
        if let time, FileSystem.modified(downloads.path(name)) != time { return "not the server's time" }
        return leftovers([name])
    }

    /// The fault of a failure that left nothing: the code, an error without `words`, a file.
    func complaint(_ process: PawlProcess, code: Int32, saying words: String...) -> String? {
        guard process.exit == .code(code) else { return "exit \(String(describing: process.exit)): \(process.errors)" }
        for word in words where !process.errors.lowercased().contains(word.lowercased()) {
            return "no \"\(word)\" in: \(process.errors)"
        }
        return leftovers([])
    }

    private func leftovers(_ expected: Set<String>) -> String? {
        let names = Set(downloads.names.filter { !$0.hasPrefix(".") })
        return names == expected ? nil : "in the folder: \(names.sorted())"
    }

    /// The value of a number field in a line of JSON.
    static func number(_ key: String, in line: String) -> Int64? {
        guard let found = line.firstRange(of: "\"\(key)\":") else { return nil }
        return Int64(line[found.upperBound...].prefix { $0.isNumber })
    }
}

extension PawlProcess {
    /// The number of bytes that it reported as received, in total.
    var received: Int64? { lines.last.flatMap { RealOriginSite.number("received", in: $0) } }

    /// The offset at which it reported that it resumed.
    var resumedAt: Int64? {
        lines.first { $0.contains("\"event\":\"started\"") }.flatMap { RealOriginSite.number("resumedAt", in: $0) }
    }
}
