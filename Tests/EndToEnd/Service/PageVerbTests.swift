import PawlBase
import PawlTestKit
import Testing

/// `pawl web`, and a port in use by another program.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The web command` {
    /// The status of a request with the given body.
    private func post(_ body: String, to url: String) throws -> String {
        try PawlProcess.run(
            "/usr/bin/curl",
            ["-sS", "--noproxy", "*", "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", body, url]
        ).output
    }

    /// The page's URL and the login code.
    private func parts(of link: String) throws -> (page: String, code: String) {
        let halves = link.split(separator: "#code=")
        try #require(halves.count == 2, "\(link)")
        return (String(halves[0]), String(halves[1]))
    }

    @Test func `web prints a link that logs in one browser once`() throws {
        let house = try ServiceHouse()
        try house.run("serve", "--background", "--port", "0")
        let printed = try house.run("web", "--print")
        #expect(printed.exit == .code(0), "\(printed.errors)")
        let (page, code) = try parts(of: #require(printed.lines.first))
        #expect(page.hasPrefix("http://127.0.0.1:") && page.hasSuffix("/"))
        #expect(try post(code, to: page + "login") == "204")
        #expect(try post(code, to: page + "login") == "401")
        // Every call creates another code.
        let response = try #require(try house.ask("web").first)
        let next = try parts(of: #require(response["url"]?.string))
        #expect(next.page == page && next.code != code)
        #expect(try post(next.code, to: page + "login") == "204")
    }

    @Test func `web opens the link in the desktop's browser, and prints it without one`() throws {
        let house = try ServiceHouse()
        try house.run("serve", "--background", "--port", "0")
        let opener = house.folder.path("xdg-open")
        func desktop(_ script: String) throws -> PawlProcess {
            try FileSystem.write(Array("#!/bin/sh\n\(script)\n".utf8), to: opener)
            _ = try PawlProcess.run("/bin/chmod", ["755", opener])
            let process = try house.start(
                ["web"], more: ["DISPLAY": ":99", "PATH": "\(house.folder.path):/usr/bin:/bin"])
            process.wait()
            return process
        }
        let seen = house.folder.path("seen")
        let opened = try desktop("printf %s \"$1\" >'\(seen)'")
        #expect(opened.exit == .code(0) && opened.output.isEmpty)
        let link = String(decoding: FileSystem.contents(seen) ?? [], as: UTF8.self)
        let (page, code) = try parts(of: link)
        #expect(try post(code, to: page + "login") == "204")
        let failed = try desktop("exit 3")
        #expect(failed.exit == .code(0))
        #expect(try parts(of: #require(failed.lines.first)).page == page)
        let none = try house.start(["web"], more: ["DISPLAY": "", "WAYLAND_DISPLAY": ""])
        none.wait()
        #expect(try parts(of: #require(none.lines.first)).page == page)
    }

    @Test func `web reports that no service is running, and that one has no port`() throws {
        let house = try ServiceHouse()
        let nobody = try house.run("web")
        #expect(nobody.exit == .code(3))
        #expect(nobody.errors.contains("the Pawl service is not running"))
        try house.run("serve", "--background")
        let closed = try house.run("web")
        #expect(closed.exit != .code(0))
        #expect(closed.errors.contains("the service does not listen on a port"))
    }

    @Test func `add beside a port in use downloads nevertheless, and reports what is missing`() throws {
        // The default port is in use here, or was before.
        let script = """
            import signal, socket
            taken = socket.socket()
            try: taken.bind(("127.0.0.1", 6800)); taken.listen()
            except OSError: pass
            print("ready", flush=True)
            signal.pause()
            """
        let other = try PawlProcess("/usr/bin/python3", ["-c", script])
        try #require(other.line { $0 == "ready" } != nil)
        let house = try ServiceHouse(port: "")
        let content = Payload(seed: 91, length: 10_000)
        let added = try house.run("add", house.origin.serve("/f", content))
        #expect(added.exit == .code(0), "\(added.errors)")
        #expect(try house.run("wait", "--all").exit == .code(0))
        #expect(house.difference("f", from: content) == nil)
        for verb in ["status", "web"] {
            let result = try house.run(verb)
            let text = result.output + result.errors
            #expect(text.contains("127.0.0.1:6800") && text.contains("in use"), "\(verb): \(text)")
            #expect(result.exit == (verb == "status" ? .code(0) : .code(1)))
        }
        // An explicit request for that port is refused; any free one will do.
        try house.run("stop")
        let refused = try house.run("serve", "--background", "--port", "6800")
        #expect(refused.exit == .code(28))
        #expect(refused.errors.contains("127.0.0.1:6800"), "\(refused.errors)")
        let served = try house.run("add", "--port", "0", "--paused", house.origin.url("/g"))
        #expect(served.exit == .code(0), "\(served.errors)")
        #expect(try house.ask("status").first?["portRefusal"] == .null)
        #expect(try house.run("web", "--print").exit == .code(0))
        other.send(15)
    }
}
