import Glibc
import PawlBase
import PawlTestKit
import Testing

/// Streams in the queue of the service: added by each of its surfaces, as one row.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `Streams of the service` {
    private let house: ServiceHouse
    private let site: StreamSite

    init() throws {
        house = try ServiceHouse.serving()
        site = try StreamSite(10)
    }

    private func row(_ id: String, until isWanted: (JSON) -> Bool) throws -> JSON {
        for _ in 1...4_000 {
            if let row = try house.ask("show", id).first, isWanted(row) { return row }
        }
        Issue.record("the stream did not come so far: \(try house.ask("list").map(\.text))")
        return .null
    }

    private func hasFinished(_ row: JSON) -> Bool { row["state"]?.string == "finished" }

    @Test func `a playlist is one row with its segments, and goes on after a kill`() throws {
        site.bench.origin.adjust("/v/s6.ts") { $0.delay = .untilReleased }
        let id = try house.add(site.serve(site.playlist()), "-d", "films", "-o", "film.ts", "--allow-gaps", "2")
        let begun = try row(id) { $0["segments"]?["done"]?.integer == 6 }
        #expect(begun["segments"]?["total"]?.integer == 10 && begun["percent"]?.text == "60.00", "\(begun.text)")
        #expect(begun["name"]?.string == "film.ts" && begun["folder"]?.string == "films")
        #expect(begun["stream"]?["allowGaps"]?.integer == 2 && begun["parts"]?.array == ["film.ts"])
        let table = try house.run("list")
        #expect(table.output.contains("film.ts (6 of 10 segments)"), "\(table.output)")
        #expect(try house.run("show", id).output.contains("segments   6 of 10 segments"))
        kill(try house.servicePID(), SIGKILL)
        for number in [6, 7] {
            site.bench.origin.adjust(StreamSite.path(number)) { ($0.delay, $0.instead) = (.none, .status(404)) }
        }
        site.bench.origin.adjust("/v/s9.ts") { $0.delay = .untilReleased }
        try house.run("serve", "--background")
        // Not before the service listens to the end of the download.
        #expect(site.bench.origin.wait(held: 1, of: "/v/s9.ts"))
        site.bench.origin.adjust("/v/s9.ts") { $0.delay = .none }
        site.bench.origin.release("/v/s9.ts")
        // What was allowed is kept with the row.
        let end = try row(id) { ["finished", "failed"].contains($0["state"]?.string) }
        #expect(end["state"]?.string == "finished", "\(end.text)")
        let kept = Payload([0, 1, 2, 3, 4, 5, 8, 9].flatMap { site.segments[$0] })
        #expect(house.difference("films/film.ts", from: kept) == nil)
        #expect(site.bench.origin.ended("/v/s0.ts").count == 1)
        // The event follows the state.
        _ = try row(id) { row in
            let log = row["log"]?.array ?? []
            return log.contains { $0["event"]?.string == "finished" && $0["gaps"]?.array?.count == 2 }
        }
    }

    /// A call of the service's RPC over its socket.
    private func call(_ method: String, _ parameters: String) throws -> JSON {
        let script = """
            import json, socket, sys
            def call(method, params):
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
                s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])
                s.sendall(b"POST /jsonrpc HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Type: application/json\\r\\nContent-Length: %d\\r\\nConnection: close\\r\\n\\r\\n" % len(body) + body)
                data = b""
                while True:
                    piece = s.recv(65536)
                    if not piece: break
                    data += piece
                return json.loads(data.split(b"\\r\\n\\r\\n", 1)[1])
            print(json.dumps(call(sys.argv[2], json.loads(sys.argv[3]))))
            """
        let process = try PawlProcess.run(
            "/usr/bin/python3", ["-c", script, house.environment["PAWL_SOCKET"] ?? "", method, parameters])
        try #require(process.exit == .code(0), "\(process.errors)")
        return try JSON.parse(process.output.filter { $0 != "\n" })
    }

    @Test func `RPC and aria2's interface add streams, and files where that is wanted`() throws {
        let url = site.serve(site.playlist(), at: "/v/a.m3u8")
        let named = try call("aria2.addUri", "[[\"\(url)\"]]")
        let gid = try #require(named["result"]?.string)
        #expect(hasFinished(try row(gid, until: hasFinished)))
        #expect(house.difference("a.ts", from: site.whole) == nil)
        let typed = site.serve(site.playlist(), at: "/v/play")
        let added = try call("pawl.add", "[[{\"url\":\"\(typed)\"},{\"url\":\"\(url)\",\"asFile\":true}]]")
        let ids = (added["result"]?.array ?? []).compactMap { $0["id"]?.string }
        #expect(ids.count == 2)
        for id in ids { _ = try row(id, until: hasFinished) }
        #expect(house.difference("play.ts", from: site.whole) == nil)
        #expect(house.difference("a.m3u8", from: site.playlist()) == nil)
        let wrong = try call("pawl.add", "[[{\"url\":\"\(url)\",\"stream\":{\"quality\":\"good\"}}]]")
        #expect(wrong["result"]?.array?.first?["error"]?["code"]?.integer == 28, "\(wrong.text)")
        // What has not finished is exported with its options.
        site.bench.origin.adjust("/v/s9.ts") { $0.delay = .untilReleased }
        _ = try house.add(site.serve(site.playlist(), at: "/v/b.m3u8"), "--quality", "720p", "--remux", "mkv")
        let exported = try call("pawl.export", "[]")["result"]?.array ?? []
        #expect(exported.count == 1 && exported[0]["stream"] == ["quality": "720p", "remux": "mkv"], "\(exported)")
    }

    @Test func `a stream with several files is one download in every command`() throws {
        let frame: [UInt8] = [0xFF, 0xF1, 0x50, 0x80, 1, 0x20, 0xFC, 7, 7]
        site.bench.origin.serve("/v/a.aac", Payload(frame + frame))
        site.serve(site.playlist(), at: "/v/pictures.m3u8")
        site.serve(Payload(text: "#EXTM3U\n#EXTINF:2,\na.aac\n#EXT-X-ENDLIST\n"), at: "/v/sound.m3u8")
        let master = """
            #EXTM3U
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="x",LANGUAGE="en",URI="sound.m3u8"
            #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="a"
            pictures.m3u8

            """
        try house.run("rules", "add", "type:video", "Films")
        let id = try house.add(site.serve(Payload(text: master), at: "/v/show.m3u8"))
        _ = try row(id, until: hasFinished)
        #expect(FileSystem.names(in: house.folder.path("root/Films")).count == 2)
        try house.run("rename", id, "film.ts")
        let status = try call("aria2.tellStatus", "[\"\(id)\", [\"files\"]]")
        let files = status["result"]?["files"]?.array ?? []
        #expect(files.map { $0["path"]?.string?.split(separator: "/").last } == ["film.ts", "film.audio.en.aac"])
        #expect(files.map { $0["length"]?.string } == [String(site.whole.length), String(frame.count * 2)])
        #expect(try row(id) { $0["file"]?.string == "there" }["name"]?.string == "film.ts")
        #expect(house.difference("Films/film.ts", from: site.whole) == nil)
        FileSystem.remove(house.folder.path("root/Films/film.audio.en.aac"))
        #expect(try row(id) { $0["file"]?.string == "missing" }["state"]?.string == "finished")
        try house.run("resume", id)
        _ = try row(id) { hasFinished($0) && $0["file"]?.string == "there" }
        #expect(FileSystem.names(in: house.folder.path("root/Films")).count == 2)
        try house.run("remove", "--delete-file", "--yes", id)
        #expect(FileSystem.names(in: house.folder.path("root/Films")).isEmpty)
    }

    @Test func `pause and removal leave nothing behind`() throws {
        site.bench.origin.adjust("/v/s4.ts") { $0.delay = .untilReleased }
        let id = try house.add(site.serve(site.playlist()))
        _ = try row(id) { $0["segments"]?["done"]?.integer == 4 }
        try house.run("pause", id)
        let paused = try row(id) { $0["state"]?.string == "paused" }
        #expect(paused["segments"]?["done"]?.integer == 4 && paused["written"]?.integer == 4 * 60 * 188)
        #expect(FileSystem.names(in: house.folder.path("root")).contains("show.ts.part"))
        try house.run("remove", id)
        #expect(FileSystem.names(in: house.folder.path("root")).filter { $0 != ".pawl" }.isEmpty)
        // A recording needs somebody who ends it.
        #expect(try house.run("add", "--live", "1m", site.bench.origin.url("/v/show.m3u8")).exit == .code(28))
    }
}
