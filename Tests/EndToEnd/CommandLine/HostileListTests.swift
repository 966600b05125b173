import Glibc
import PawlTestKit
import Testing

/// Input files that others wrote, with the real program.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) final class `Lists of others` {
    private let origin: OriginServer
    private let folder: TemporaryFolder
    private let content = Payload(seed: 17, length: 1000)

    init() throws {
        origin = try OriginServer()
        folder = try TemporaryFolder()
    }

    deinit { origin.stop() }

    /// Runs with `list` as the input file, in the folder `in`.
    private func run(_ command: [String], _ list: [UInt8]) throws -> PawlProcess {
        try FileSystem.write(list, to: folder.path("list"))
        let place = folder.path("in")
        _ = unsafe mkdir(place, 0o755)
        let process = try PawlProcess(
            PawlBinary.path, command + ["-i", folder.path("list"), "-d", place], environment: ["HOME": folder.path],
            folder: place)
        process.wait()
        return process
    }

    private func get(_ list: [UInt8]) throws -> PawlProcess { try run(["get"], list) }

    private func get(_ list: String) throws -> PawlProcess { try get(Array(list.utf8)) }

    private func aria2c(_ list: [UInt8]) throws -> PawlProcess {
        try run(["aria2c", "--no-conf=true", "--max-tries=1"], list)
    }

    @Test func `bytes of a URL that are not UTF-8 are percent-encoded`() throws {
        origin.serve("/a%FF%C3%BC", content)
        let list = Array(origin.url("/a").utf8) + [0xFF, 0xC3, 0xBC, 0x0A]
        for run in [get, aria2c] as [([UInt8]) throws -> PawlProcess] {
            let process = try run(list)
            #expect(process.exit == .code(0), "\(process.errors)")
        }
        #expect(origin.log.records.allSatisfy { $0.path == "/a%FF%C3%BC" }, "\(origin.log.records)")
        let script = "\"$0\" get -q -d \"$1\" \"$2$(printf '\\377ü')\""
        let words = try PawlProcess.run("/bin/sh", ["-c", script, PawlBinary.path, folder.path, origin.url("/a")])
        #expect(words.exit == .code(0), "\(words.errors)")
    }

    @Test func `nothing leads out of the folder, and nothing is requested`() throws {
        let url = origin.serve("/a", content)
        for name in ["../x", "/\u{301}../x", folder.path("x"), "y/../../x"] {
            let process = try get("\(url)\n\(url)?1\n out=\(name)\n")
            #expect(process.exit == .code(28), "\(name): \(process.errors)")
            #expect(process.errors.contains("it leads out of the folder; name the folder with dir="))
        }
        for option in ["input-file=list", "to=s3://b/k", "metalink=m", "log=l", "on-complete=/bin/sh"] {
            #expect(try get("\(url)\n \(option)\n").exit == .code(28), "\(option)")
        }
        #expect(origin.log.records.isEmpty && !FileSystem.exists(folder.path("x")))
    }

    @Test func `what is no text is refused with its line`() throws {
        let url = origin.serve("/a", content)
        for (bytes, why) in [
            ([0x6F, 0x3D, 0x00], "it is neither a list of URLs nor a Metalink"),
            ([0x6F, 0x3D, 0x61, 0x0D, 0x62], "a line break or another control character"),
            ([0x6F, 0x3D, 0x1B, 0x5B], "a line break or another control character"),
            ([0x6F, 0x3D, 0xFF], "line 2 of \(folder.path("list")): it is not UTF-8"),
        ] as [([UInt8], String)] {
            let process = try get(Array("\(url)\n ".utf8) + bytes + [0x61, 0x0A])
            #expect(process.exit == .code(28) && process.errors.contains(why), "\(process.errors)")
        }
        #expect(origin.log.records.isEmpty)
        let wide = try get([0xFF, 0xFE] + url.utf8.flatMap { [$0, 0] })
        #expect(wide.exit == .code(0) && origin.log.of("/a").count == 1, "\(wide.errors)")
    }

    @Test func `giant lines and endless files are refused`() throws {
        let url = origin.serve("/a", content)
        let giant = [UInt8](repeating: 0x61, count: 3 << 20)
        for beginning in ["", "\(url)\n out="] {
            let process = try get(Array(beginning.utf8) + giant)
            #expect(process.exit == .code(28), "\(process.errors.prefix(1000))")
            #expect(process.errors.contains("it is longer than 2097152 bytes"))
        }
        let name = try get(Array("\(url)\n out=".utf8) + giant.prefix(1 << 20))
        #expect(name.exit == .code(28) && name.errors.utf8.count < 5000)
        let headers = try get("\(url)\n" + String(repeating: " header=A: b\n", count: 20_000))
        #expect(headers.exit == .code(28) && headers.errors.contains("more than 10000 times"))
        let lenient = try aria2c(giant + Array("\n\(url)\n".utf8))
        #expect(lenient.exit == .code(0) && lenient.output.utf8.count < 5000, "\(lenient.errors)")
        for option in ["-i", "--metalink"] {
            let endless = try PawlProcess.run(PawlBinary.path, ["get", option, "/dev/zero"])
            #expect(endless.exit == .code(35), "\(endless.errors)")
        }
    }

    @Test func `a URL with a line break adds no options to a session file`() throws {
        let arguments = ["aria2c", "--no-conf=true", "--max-tries=1", "--save-session=\(folder.path("s"))"]
        for mark in ["\n", "\r\n", "\r"] {
            let failing = origin.url("/none")
            let process = try PawlProcess.run(
                PawlBinary.path, arguments + ["-Z", failing, "\(failing)\(mark) out=../x"])
            #expect(process.exit != .code(0), "\(process.errors)")
            let session = String(decoding: FileSystem.contents(folder.path("s")) ?? [], as: UTF8.self)
            #expect(session.hasPrefix("\(failing)\t\n gid="), "\(session)")
            #expect(!session.contains(" out="), "\(session)")
        }
    }

    @Test func `a session file has the options that were given, and no default`() throws {
        let process = try PawlProcess.run(
            PawlBinary.path,
            ["aria2c", "--no-conf=true", "--retry-wait=1", "--save-session=\(folder.path("s"))", origin.url("/none")])
        #expect(process.exit == .code(3), "\(process.errors)")
        let session = String(decoding: FileSystem.contents(folder.path("s")) ?? [], as: UTF8.self)
        let names = session.split(separator: "\n").dropFirst().map { $0.prefix { $0 != "=" } }
        #expect(names == [" gid", " retry-wait"], "\(session)")
    }

    @Test func `a device named in aria2c's list is not read`() throws {
        let url = origin.serve("/a", content)
        let process = try aria2c(Array("/dev/zero\n\(folder.path("list"))\n\(url)\n".utf8))
        #expect(process.exit == .code(0), "\(process.errors)")
        #expect(folder.difference("in/a", from: content) == nil)
    }
}
