import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// Hooks, webhooks and logs of the service.
@Suite struct WatchingTests {
    private func executable(_ text: String, at path: String) throws {
        try FileSystem.write(Array("#!/bin/sh\n\(text)\n".utf8), to: path)
        _ = try PawlProcess.run("/bin/chmod", ["755", path])
    }

    private func text(of path: String) -> String { String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self) }

    @Test func `programs are run without a shell, with id, number and path`() async throws {
        let folder = try TemporaryFolder()
        // A named pipe: reading it waits for the program.
        let pipe = folder.path("pipe")
        _ = try PawlProcess.run("/usr/bin/mkfifo", [pipe])
        try executable("echo \"$#:$1:$2:$3\" >\(pipe)", at: folder.path("done program"))
        let bench = try await ServiceBench { $0.hooks.programs = [.complete: folder.path("done program")] }
        let url = bench.origin.serve("/f", Payload(seed: 5, length: 1000))
        async let reader = bench.run("/bin/cat", [pipe])
        let gid = try await bench.gid("aria2.addUri", [[.string(url)], ["out": "a;$(touch x) b"]])
        try await bench.finish(gid)
        #expect(try await reader.output == "3:\(gid):1:\(bench.root)/a;$(touch x) b\n")
        await bench.close()
    }

    @Test func `a program that does not end blocks nothing, and more wait their turn`() async throws {
        let folder = try TemporaryFolder()
        let count = HookRunner.limit + 3
        let pipes = (1...count).flatMap { [folder.path("gate\($0)"), folder.path("end\($0)")] }
        _ = try PawlProcess.run("/usr/bin/mkfifo", pipes)
        let script =
            "read line <\(folder.path("gate"))$1; echo $1 >>\(folder.path("done")); echo >\(folder.path("end"))$1"
        try executable(script, at: folder.path("slow"))
        let runner = HookRunner(log: nil)
        for number in 1...count { runner.run([folder.path("slow"), "\(number)"]) }
        // The maximum number of hanging programs is reached. Each is released, and reports its end.
        for number in 1...count {
            let gate = folder.path("gate\(number)")
            let feeder = try PawlProcess("/bin/sh", ["-c", "echo >\(gate); cat \(folder.path("end\(number)"))"])
            #expect(feeder.wait() == .code(0))
        }
        let numbers = text(of: folder.path("done")).split(separator: "\n").compactMap { Int($0) }
        #expect(numbers.sorted() == Array(1...count))
    }

    @Test func `a webhook is retried, a few times, and in order`() async throws {
        let folder = try TemporaryFolder()
        let script = """
            import http.server,sys
            statuses=[500,503,200,404,200]
            class H(http.server.BaseHTTPRequestHandler):
                def log_message(s,*a): pass
                def do_POST(s):
                    body=s.rfile.read(int(s.headers['Content-Length'])).decode()
                    print(s.headers['Content-Type'],body,flush=True)
                    s.send_response(statuses.pop(0)); s.send_header('Content-Length','0'); s.end_headers()
            server=http.server.HTTPServer(('127.0.0.1',0),H)
            print(server.server_port,flush=True)
            server.serve_forever()
            """
        let server = try PawlProcess("/usr/bin/python3", ["-c", script])
        let port = try #require(server.line { Int($0) != nil })
        let log = try ServiceLog(path: folder.path("log"), format: .text)
        let sender = WebhookSender("http://user:secret@127.0.0.1:\(port)/hook?key=hidden", log: log, firstDelay: 0.001)
        for message in ["one", "two", "three"] { sender.send(Array("\"\(message)\"".utf8)) }
        #expect(server.line { $0.contains("three") } != nil)
        // Three attempts for the first, one for the second since it was rejected, one for the third.
        let messages = server.lines.dropFirst()
        #expect(Array(messages) == ["one", "one", "one", "two", "three"].map { "application/json \"\($0)\"" })
        let output = text(of: folder.path("log"))
        #expect(output.contains("the server returned 404 Not Found"))
        #expect(!output.contains("secret") && !output.contains("hidden"))
        server.send(15)
    }

    @Test func `a log is not written through a link, nor to a file with another hard link`() throws {
        let folder = try TemporaryFolder()
        let victim = folder.path("victim")
        try FileSystem.write(Array("precious".utf8), to: victim)
        let path = folder.path("log")
        unsafe symlink(victim, path)
        let refusal = #expect(throws: Failure.self) { try ServiceLog(path: path, format: .text) }
        #expect(refusal?.why == "it is a symbolic link")
        FileSystem.remove(path)
        unsafe link(victim, path)
        let other = #expect(throws: Failure.self) { try ServiceLog(path: path, format: .text) }
        #expect(other?.why == "it has other hard links")
        let bounded = ServiceLog(path: path, format: .text, limit: 500)
        bounded.note("event", "something")
        #expect(text(of: victim) == "precious")
    }

    @Test func `a program that is a link is not run`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("hook")
        unsafe symlink("/bin/true", path)
        let log = try ServiceLog(path: folder.path("log"), format: .text)
        let runner = HookRunner(log: log)
        runner.run([path, "a"])
        await runner.close(within: .seconds(60))
        #expect(text(of: folder.path("log")).contains("it is a symbolic link"))
    }

    @Test func `a log that is a pipe or a device stays one when the limit is reached`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("log")
        try #require(unsafe mkfifo(path, 0o600) == 0)
        let reader = unsafe open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        defer { close(reader) }
        let log = ServiceLog(path: path, format: .text, limit: 500)
        for number in 1...40 { log.note("event", "number \(number) of the things that happened") }
        #expect(AtomicFile.kind(of: path) == S_IFIFO)
        #expect(FileSystem.names(in: folder.path) == ["log"])
    }

    @Test func `a log with a size limit is rotated when it is full`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("log")
        let log = ServiceLog(path: path, format: .text, limit: 500)
        #expect(!FileSystem.exists(path))
        for number in 1...40 { log.note("event", "number \(number) of the things that happened") }
        let now = text(of: path)
        let before = text(of: path + ".1")
        #expect(now.contains("number 40 ") && !before.isEmpty)
        #expect(now.utf8.count <= 500 && before.utf8.count <= 500)
        #expect(FileSystem.mode(path) == 0o600)
        #expect(FileSystem.names(in: folder.path).count == 2)
    }

    @Test(arguments: ServiceLog.Format.allCases) func `the log has a line for each event, and no secret`(
        format: ServiceLog.Format
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("log")
        let log = try ServiceLog(path: path, format: format)
        let bench = try await ServiceBench { $0.log = log }
        let bad = bench.origin.url("/none").replacing("http://", with: "http://name:password@") + "?key=hidden"
        let gid = try await bench.gid("aria2.addUri", [[.string(bad)], ["max-tries": "1"]])
        let good = try await bench.gid(
            "aria2.addUri", [[.string(bench.origin.serve("/f", Payload(seed: 6, length: 1000)))], ["out": "line"]])
        try? await bench.finish(gid)
        try await bench.finish(good)
        await bench.close()
        let lines = text(of: path).split(separator: "\n").map(String.init)
        #expect(lines.contains { $0.contains("failed") && $0.contains(gid) && $0.contains("404 Not Found") })
        #expect(lines.contains { $0.contains("finished") && $0.contains(good) })
        #expect(!text(of: path).contains("password") && !text(of: path).contains("hidden"))
        #expect(FileSystem.mode(path) == 0o600)
        for line in lines {
            guard format == .json else {
                #expect(line.contains("Z info ") || line.contains("Z error ") || line.contains("Z warning "))
                continue
            }
            let value = try JSON.parse(line)
            #expect(value["time"]?.string?.count == 20 && value["level"]?.string != nil)
        }
    }
}
