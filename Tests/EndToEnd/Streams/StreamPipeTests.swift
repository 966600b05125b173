import Glibc
import PawlTestKit
import Testing

/// Streams that become no file: standard output, and what is shown of them.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct StreamPipeTests {
    @Test func `a stream is written to standard output in order, also to a slow reader`() throws {
        let site = try StreamSite(30, packets: 1_500)
        let url = site.serve(site.playlist())
        // Segments overtake each other.
        for number in stride(from: 0, to: 30, by: 4) {
            site.bench.origin.adjust(StreamSite.path(number)) { $0.pace = 600_000 }
        }
        for reader in [
            "cat",
            "python3 -c 'import sys, time\nwhile True:\n  b = sys.stdin.buffer.read(200000)\n  if not b: break\n  sys.stdout.buffer.write(b)'",
        ] {
            let process = try PawlProcess(
                "/bin/bash", ["-c", "set -o pipefail; \"$0\" get -q -o - \"$1\" | \(reader)", PawlBinary.path, url],
                environment: ["HOME": site.bench.folder.path], folder: site.bench.folder.path)
            #expect(process.wait() == .code(0), "\(process.errors)")
            #expect(process.outputBytes.elementsEqual(site.whole.bytes))
        }
        #expect(site.bench.folder.names.filter { !$0.hasPrefix(".") }.isEmpty)
    }

    @Test func `a playlist that only its type shows is written, too, and a file that is none`() throws {
        let site = try StreamSite(3)
        let typed = try site.bench.start(site.serve(site.playlist(), at: "/v/play"), "-o", "out", "-q")
        #expect(typed.wait() == .code(0))
        #expect(site.bench.folder.difference("out", from: site.whole) == nil)
        func output(_ url: String, _ more: String...) throws -> PawlProcess {
            let process = try PawlProcess(
                PawlBinary.path, ["get", "-q", url, "-o", "-"] + more, environment: ["HOME": site.bench.folder.path],
                folder: site.bench.folder.path)
            process.wait()
            return process
        }
        #expect(try output(site.bench.origin.url("/v/play")).outputBytes.elementsEqual(site.whole.bytes))
        let titles = Payload(text: "#EXTM3U\n#EXTINF:-1,A song\nhttp://127.0.0.1:1/song.mp3\n")
        #expect(try output(site.serve(titles, at: "/v/radio.m3u8")).outputBytes.elementsEqual(titles.bytes))
        let itself = try output(site.serve(site.playlist()), "--as-file")
        #expect(itself.outputBytes.elementsEqual(site.playlist().bytes))
        // A segment that is missing is a failure, after what is before it.
        site.bench.origin.adjust("/v/s1.ts") { $0.instead = .status(404) }
        let cut = try output(site.bench.origin.url("/v/show.m3u8"))
        #expect(cut.exit == .code(3) && cut.errors.contains("segment 2 of 3"), "\(cut.errors)")
        #expect(cut.outputBytes.elementsEqual(site.segments[0]))
    }

    @Test func `what is before a missing segment reaches a reader that begins late`() throws {
        let site = try StreamSite(3, packets: 1_500)
        let url = site.serve(site.playlist())
        site.bench.origin.adjust(StreamSite.path(1)) { $0.instead = .status(404) }
        let go = site.bench.folder.path("go")
        try #require(unsafe mkfifo(go, 0o600) == 0)
        // The segment is longer than a pipe holds.
        let process = try PawlProcess(
            "/bin/bash", ["-c", "set -o pipefail; \"$0\" get -q -o - \"$1\" | { cat go; cat; }", PawlBinary.path, url],
            environment: ["HOME": site.bench.folder.path], folder: site.bench.folder.path)
        #expect(site.bench.origin.wait(requests: 1, of: StreamSite.path(1)))
        try FileSystem.write([], to: go)
        #expect(process.wait() == .code(3) && process.errors.contains("segment 2 of 3"), "\(process.errors)")
        #expect(process.outputBytes.elementsEqual(site.segments[0]))
    }

    private func master(_ site: StreamSite) -> String {
        site.serve(
            Payload(
                text: """
                    #EXTM3U
                    #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="a",NAME="English",LANGUAGE="en",URI="sound.m3u8"
                    #EXT-X-STREAM-INF:BANDWIDTH=5000000,RESOLUTION=1920x1080,CODECS="avc1.640028",AUDIO="a"
                    show.m3u8
                    #EXT-X-STREAM-INF:BANDWIDTH=900000,RESOLUTION=640x360,AUDIO="a"
                    low.m3u8

                    """), at: "/v/master.m3u8")
    }

    @Test func `sound that is apart cannot be written to one pipe`() throws {
        let site = try StreamSite(2)
        site.serve(site.playlist())
        site.serve(site.playlist(), at: "/v/sound.m3u8")
        let url = master(site)
        let refused = try site.bench.get(url, "-o", "/dev/null")
        #expect(refused.code == 28 && refused.message.contains("it becomes 2 files"), "\(refused)")
        #expect(site.requests == 0)
        #expect(try site.bench.get(url, "-o", "/dev/null", "--audio", "none").code == 0)
    }

    @Test(arguments: [["get", "--dry-run"], ["list-remote"]])
    func `the variants of a stream are shown, with those that are taken`(command: [String]) throws {
        let site = try StreamSite(2)
        let url = master(site)
        let (code, text) = try site.bench.run(command + ["--quality", "worst", url])
        #expect(code == 0, "\(text)")
        #expect(text.contains("  video, 1920x1080, 5000 kbit/s, avc1.640028"), "\(text)")
        #expect(text.contains("* video, 640x360, 900 kbit/s"), "\(text)")
        #expect(text.contains("* audio, en, English"), "\(text)")
        let (_, lines) = try site.bench.run(command + ["--json", url])
        #expect(lines.contains("\"kind\":\"video\",\"width\":1920,\"height\":1080"), "\(lines)")
        #expect(site.requests == 0 && site.bench.folder.names.isEmpty)
    }
}
