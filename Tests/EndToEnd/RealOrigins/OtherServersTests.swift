import PawlTestKit
import Testing

@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("lighttpd"), "needs lighttpd")) struct `lighttpd` {
    @Test(arguments: ["1", "4"]) func `the whole file arrives`(connections: String) throws {
        let site = try RealOriginSite()
        let lighttpd = try LighttpdServer(site.served)
        let run = try site.run("-x", connections, lighttpd.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test func `A4 killed in the middle, the next run continues with a range`() throws {
        let site = try RealOriginSite()
        let lighttpd = try LighttpdServer(site.served)
        let url = lighttpd.url("/\(site.name)")
        let said = try #require(try site.runAndKillInTheMiddle("-x", "1", "--limit-rate", "1M", url))
        let run = try site.run("-x", "1", "--json", url)
        #expect(site.complaint(run) == nil)
        #expect(try #require(run.resumedAt) >= said)
        #expect(lighttpd.finish().contains { $0.hasPrefix("206|bytes=") })
    }

    @Test func `G1 without any validator the next run compares before it continues`() throws {
        let site = try RealOriginSite()
        let lighttpd = try LighttpdServer(site.served, validators: false)
        let url = lighttpd.url("/\(site.name)")
        let said = try #require(try site.runAndKillInTheMiddle("-x", "1", "--limit-rate", "1M", url))
        let run = try site.run("-x", "1", "--json", url)
        #expect(site.complaint(run, time: nil) == nil)
        #expect(try #require(run.resumedAt) >= said)
        let overlap = try #require(run.received) - (site.content.length - (try #require(run.resumedAt)))
        #expect(overlap > 0)
    }

    @Test func `C6 without any validator changed content of the same length is detected`() throws {
        let site = try RealOriginSite()
        let lighttpd = try LighttpdServer(site.served, validators: false)
        let url = lighttpd.url("/\(site.name)")
        _ = try #require(try site.runAndKillInTheMiddle("-x", "1", "--limit-rate", "1M", url))
        let changed = Payload(seed: 0xBEEF, length: site.content.length)
        try site.served.add(site.name, changed)
        let run = try site.run("-x", "1", url)
        #expect(run.exit == .code(0), "\(run.errors)")
        #expect(site.downloads.difference(site.name, from: changed) == nil)
    }

    @Test(arguments: ["digest", "basic"]) func `a login`(scheme: String) throws {
        let site = try RealOriginSite()
        let lighttpd = try LighttpdServer(site.served)
        let url = lighttpd.url("/\(scheme)/\(site.name)")
        let wrong = try site.run("--user", "pawl:wrong", url)
        #expect(site.complaint(wrong, code: 24, saying: "401") == nil)
        #expect(site.complaint(try site.run("--user", "pawl:secret", "-x", "4", url)) == nil)
    }
}

@Suite(.ownThreads, .enabled(if: ServerProcess.isInstalled("python3"), "needs python3")) struct `Python's http.server` {
    @Test(arguments: ["1", "4"]) func `the whole file arrives`(connections: String) throws {
        let site = try RealOriginSite()
        let python = try PythonServer(site.served)
        let run = try site.run("-x", connections, python.url("/\(site.name)"))
        #expect(site.complaint(run) == nil)
    }

    @Test func `E2 killed in the middle, the next run does not append the full response`() throws {
        let site = try RealOriginSite()
        let python = try PythonServer(site.served)
        let url = python.url("/\(site.name)")
        _ = try #require(try site.runAndKillInTheMiddle("-x", "1", "--limit-rate", "1M", url))
        let run = try site.run("-x", "1", url)
        #expect(site.complaint(run) == nil)
        #expect(python.log.contains("GET /\(site.name)"))
    }
}
