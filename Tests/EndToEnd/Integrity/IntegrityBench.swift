import Glibc
import PawlBase
import PawlTestKit
import Testing

/// A test's folder with files, and a way to run commands in it.
final class IntegrityBench: Sendable {
    let bench: Bench
    var origin: OriginServer { bench.origin }
    var folder: TemporaryFolder { bench.folder }

    init() throws { bench = try Bench() }

    /// The output and the exit code of `pawl` with these arguments.
    func pawl(_ arguments: String..., environment: [String: String] = [:]) throws -> Run {
        try run(PawlBinary.path, arguments, environment: environment)
    }

    func run(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Run {
        let process = try PawlProcess(
            program, arguments, environment: ["HOME": folder.path].merging(environment) { $1 }, folder: folder.path)
        guard case .code(let code) = process.wait(atMost: .patience) else {
            return Run(code: nil, lines: process.lines, errors: process.errors)
        }
        return Run(code: code, lines: process.lines, errors: process.errors)
    }

    struct Run: CustomStringConvertible {
        var code: Int32?
        var lines: [String]
        var errors: String

        var description: String {
            "exit \(code.map(String.init) ?? "none")\n\(lines.joined(separator: "\n"))\n\(errors)"
        }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws { try FileSystem.write(bytes, to: folder.path(name)) }
    func contents(_ name: String) -> [UInt8]? { FileSystem.contents(folder.path(name)) }

    /// The digest that a program of coreutils computes, such as `sha256sum`.
    func sum(_ program: String, of name: String) throws -> String {
        let run = try run(program, [name])
        return String(try #require(run.lines.first).prefix { $0 != " " })
    }

    /// The number of body bytes that the origin sent in response to these requests.
    func sent(of path: String) -> Int64 {
        origin.waitUntilQuiet(path)
        return origin.log.bodySent(path)
    }

    /// A Metalink of `bytes` with MD5 digests of its pieces.
    func metalink(
        _ name: String, _ bytes: [UInt8], piece length: Int, sources: [String], hasWhole: Bool = false
    ) throws -> String {
        let hashes = stride(from: 0, to: bytes.count, by: length).map { start in
            let piece = Array(bytes[start..<min(bytes.count, start + length)])
            return "<hash>\(Hexadecimal.text(MessageDigest5.digest(piece)))</hash>"
        }
        let whole = hasWhole ? "<hash type=\"md5\">\(Hexadecimal.text(MessageDigest5.digest(bytes)))</hash>" : ""
        let urls = sources.enumerated().map { "<url priority=\"\($0 + 1)\">\($1)</url>" }
        return """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="\(name)"><size>\(bytes.count)</size>\(whole)
            <pieces length="\(length)" type="md5">\(hashes.joined())</pieces>\(urls.joined())</file></metalink>
            """
    }
}
