import Glibc
import PawlBase
import PawlServer
import PawlTestKit
import Testing

/// Hook programs and the webhook, when the service is killed.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program"))
struct `Hooks and webhooks after a kill` {
    @Test func `the program runs again and the webhook is delivered`() throws {
        let house = try ServiceHouse()
        let pipe = house.folder.path("pipe")
        _ = try PawlProcess.run("/usr/bin/mkfifo", [pipe])
        // The program of the first run kills its parent, which therefore cannot have recorded its end.
        let program = house.folder.path("program")
        let script = """
            #!/bin/sh
            if mkdir '\(house.folder.path("killed"))' 2>/dev/null; then kill -9 $PPID; exit; fi
            echo "$1" >'\(pipe)'

            """
        try FileSystem.write(Array(script.utf8), to: program)
        _ = try PawlProcess.run("/bin/chmod", ["755", program])
        // Nothing listens for webhooks yet.
        let port = try FreePort.choose()
        let serve = ["serve", "--on-complete", program, "--webhook", "http://127.0.0.1:\(port)/hook"]
        let service = try house.start(serve)
        try #require(service.line(in: .err) { $0.hasPrefix("pawl: serving ") } != nil)
        let content = Payload(seed: 92, length: 10_000)
        try house.run("add", house.origin.serve("/f", content))
        #expect(service.wait() == .signal(SIGKILL))

        let box = try WebhookReceiver(port: port)
        let again = try house.start(serve)
        let result = try PawlProcess.run("/bin/cat", [pipe])
        let list = try house.ask("list")
        let id = try #require(list.first?["id"]?.string)
        #expect(list.count == 1 && list.first?["state"]?.string == "finished")
        #expect(result.output == id + "\n")
        let line = try #require(box.process.line { $0.contains("\"event\":\"complete\"") })
        #expect(try JSON.parse(line)["id"]?.string == id)
        #expect(house.difference("f", from: content) == nil)
        again.send(SIGTERM)
        #expect(again.wait() == .code(0))
        box.process.send(SIGTERM)
    }
}
