import Glibc
import PawlTestKit
import Testing

/// FFmpeg as the second reader: the packets of the file are those that it reads from the same playlist.
@Suite(
    .ownThreads,
    .enabled(if: ServerProcess.isInstalled("ffmpeg") && ServerProcess.isInstalled("nginx"), "needs ffmpeg and nginx"))
struct PacketTests {
    enum Form: String, CaseIterable {
        case transportStream, encrypted, rotatingKeys, fragments, fragmentRanges, transportRanges, separateAudio, dash

        /// Options of the muxer.
        var options: [String] {
            let hls = ["-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod"]
            let list = "show.m3u8"
            return switch self {
            case .transportStream: hls + [list]
            case .encrypted: hls + ["-hls_key_info_file", "key.info", list]
            case .rotatingKeys:
                hls + ["-hls_key_info_file", "key.info", "-hls_flags", "periodic_rekey", list]
            case .fragments: hls + ["-hls_segment_type", "fmp4", list]
            case .fragmentRanges: hls + ["-hls_segment_type", "fmp4", "-hls_flags", "single_file", list]
            case .transportRanges: hls + ["-hls_flags", "single_file", list]
            case .separateAudio:
                hls + [
                    "-hls_segment_type", "fmp4", "-var_stream_map",
                    "v:0,agroup:a a:0,agroup:a,language:en,default:yes", "-master_pl_name", "master.m3u8", "%v.m3u8",
                ]
            case .dash: ["-f", "dash", "-seg_duration", "1", "show.mpd"]
            }
        }

        var playlist: String {
            switch self {
            case .separateAudio: "master.m3u8"
            case .dash: "show.mpd"
            case _: "show.m3u8"
            }
        }
    }

    private func ffmpeg(_ arguments: [String], in folder: String) throws -> String {
        let process = try PawlProcess.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments, folder: folder)
        try #require(process.exit == .code(0), "\(process.errors)")
        return process.output
    }

    /// The packets of each stream of a file or playlist.
    private func packets(_ source: String, in folder: String) throws -> [Substring] {
        let isFragments = source.hasSuffix(".mp4") || source.hasSuffix(".m4a")
        let text = try ffmpeg(
            (isFragments ? ["-ignore_editlist", "1"] : []) + [
                "-i", source, "-map", "0", "-c", "copy", "-f", "streamhash", "-hash", "md5", "-",
            ], in: folder)
        return text.split(separator: "\n").map { $0.drop { $0 != "," } }
    }

    /// A folder with six seconds of picture and sound, in segments of one second.
    private func encoded(_ form: Form) throws -> ServedFolder {
        let site = try ServedFolder()
        try FileSystem.write(Array("0123456789abcdef".utf8), to: site.path + "/key")
        try FileSystem.write(Array("key\n\(site.path)/key\n".utf8), to: site.path + "/key.info")
        _ = try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-f", "lavfi", "-i", "sine=frequency=440", "-t",
                "6",
                "-map", "0:v", "-map", "1:a", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-c:a", "aac",
            ] + form.options, in: site.path)
        return site
    }

    private func serve(_ site: ServedFolder, on bench: Bench) throws {
        for name in FileSystem.names(in: site.path) where name.hasPrefix("show") {
            bench.origin.serve("/" + name, Payload(try #require(FileSystem.contents(site.path + "/" + name))))
        }
    }

    @Test func `a segment that was cut between two packets is not joined`() throws {
        let (site, bench) = (try encoded(.transportStream), try Bench())
        try serve(site, on: bench)
        let bytes = try #require(FileSystem.contents(site.path + "/show2.ts"))
        // Each response is the same, and none states its length.
        bench.origin.serve("/show2.ts", Payload(Array(bytes.prefix(bytes.count / 188 / 2 * 188)))) {
            $0.framing = .untilClose
        }
        let outcome = try bench.get(bench.origin.url("/show.m3u8"))
        #expect(outcome.code != 0 && outcome.message.contains("segment 3 of 6"), "\(outcome)")
        #expect(!bench.folder.names.contains("show.ts"), "\(bench.folder.names)")
    }

    @Test func `a playlist may state too much time where responses state their length`() throws {
        let (site, bench) = (try encoded(.transportStream), try Bench())
        try serve(site, on: bench)
        let text = String(decoding: try #require(FileSystem.contents(site.path + "/show.m3u8")), as: UTF8.self)
        try #require(text.contains("#EXTINF:1.0"))
        bench.origin.serve("/show.m3u8", Payload(text: text.replacing("#EXTINF:1.0", with: "#EXTINF:9.0")))
        let outcome = try bench.get(bench.origin.url("/show.m3u8"))
        #expect(outcome.code == 0 && bench.folder.names.contains("show.ts"), "\(outcome)")
    }

    @Test func `a key that the server compressed is decoded`() throws {
        let (site, bench) = (try encoded(.encrypted), try Bench())
        try serve(site, on: bench)
        bench.origin.serve("/key", Payload(Array("0123456789abcdef".utf8))) { $0.coding = .gzip }
        let outcome = try bench.get(bench.origin.url("/show.m3u8"))
        #expect(outcome.code == 0 && bench.folder.names == ["show.ts"], "\(outcome)")
    }

    @Test(arguments: Form.allCases) func `the packets are those that FFmpeg reads`(form: Form) throws {
        let (site, downloads) = (try encoded(form), try TemporaryFolder())
        let server = try NginxServer(site)
        let process = try PawlProcess.run(
            PawlBinary.path, ["get", "--json", server.url("/" + form.playlist)], environment: ["HOME": downloads.path],
            folder: downloads.path)
        #expect(process.exit == .code(0), "\(process.output) \(process.errors)")
        let names = downloads.names.filter { !$0.hasPrefix(".") }.sorted()
        switch form {
        case .separateAudio:
            #expect(names == ["master.audio.en.m4a", "master.video.mp4"])
            #expect(
                try packets("master.video.mp4", in: downloads.path) == packets(server.url("/0.m3u8"), in: site.path))
            #expect(
                try packets("master.audio.en.m4a", in: downloads.path) == packets(server.url("/1.m3u8"), in: site.path))
        case .dash:
            #expect(names.count == 2 && names.contains("show.video.mp4"), "\(names)")
            for name in names { #expect(try !packets(name, in: downloads.path).isEmpty) }
        case _:
            let name = try #require(names.first)
            #expect(names.count == 1)
            #expect(
                try packets(name, in: downloads.path) == packets(server.url("/" + form.playlist), in: site.path))
        }
    }

    @Test(arguments: ["mp4", "mkv"]) func `ffmpeg joins what is apart, with the same packets`(form: String) throws {
        let (site, downloads) = (try encoded(.separateAudio), try TemporaryFolder())
        let server = try NginxServer(site)
        func get(_ more: String..., path: String? = nil) throws -> PawlProcess {
            try PawlProcess.run(
                PawlBinary.path, ["get", "--json", server.url("/master.m3u8"), "--remux", form] + more,
                environment: ["HOME": downloads.path].merging(path.map { ["PATH": $0] } ?? [:]) { $1 },
                folder: downloads.path)
        }
        let joined = "master.\(form)"
        let first = try get()
        #expect(first.exit == .code(0), "\(first.output) \(first.errors)")
        #expect(downloads.names.filter { !$0.hasPrefix(".") } == [joined])
        let apart = try ["/0.m3u8", "/1.m3u8"].flatMap { try packets(server.url($0), in: site.path) }
        #expect(try packets(joined, in: downloads.path) == apart)
        #expect(first.output.contains("\"path\":\"\(joined)\""), "\(first.output)")
        // It is the result of the next run, too.
        let again = try get()
        #expect(again.exit == .code(0) && again.output.contains("\"wasThere\":true"), "\(again.output)")
        // Without the program, or where it fails, the files stay apart, and nothing is lost.
        let tools = try TemporaryFolder()
        for failing in [false, true] {
            if failing {
                try FileSystem.write(Array("#!/bin/sh\necho broken >&2\nexit 3\n".utf8), to: tools.path("ffmpeg"))
                try #require(unsafe chmod(tools.path("ffmpeg"), 0o755) == 0)
                for name in ["sh", "setpriv"] {
                    let path = try #require(
                        ["/usr/bin", "/bin"].map { "\($0)/\(name)" }.first(where: FileSystem.exists))
                    try #require(unsafe symlink(path, tools.path(name)) == 0)
                }
            }
            let name = "other\(failing).\(form)"
            let process = try get("-o", name, path: tools.path)
            #expect(process.exit == .code(0), "\(process.output) \(process.errors)")
            #expect(process.output.contains(failing ? "broken" : "ffmpeg is not installed"), "\(process.output)")
            let names = downloads.names.filter { $0.hasPrefix("other\(failing).") }.sorted()
            #expect(names == ["other\(failing).audio.en.m4a", "other\(failing).video.\(form)"])
        }
    }

    /// The packets of a kind, `v` or `a`, in order: their times in seconds, and their content.
    private func sequence(
        _ kind: String, of source: String, in folder: String
    ) throws -> (times: [Double], content: [Substring]) {
        let text = try ffmpeg(
            ["-ignore_editlist", "1"].filter { _ in source.hasSuffix(".mp4") } + [
                "-copyts", "-i", source, "-map", "0:\(kind)", "-c", "copy", "-f", "framemd5", "-",
            ], in: folder)
        let rows = text.split(separator: "\n")
        let scale = rows.first { $0.hasPrefix("#tb ") }?.split { " :/".contains($0) }.compactMap { Double($0) } ?? []
        let found = rows.filter { !$0.hasPrefix("#") }.map { $0.split(separator: ",").map { $0.drop { $0 == " " } } }
        return (found.compactMap { Double($0[2]) }.map { $0 * scale[1] / scale[2] }, found.map { $0[5] })
    }

    /// A part of three seconds, as a playlist of its own; returns the lines of its segments.
    private func part(_ number: Int, size: String, in site: ServedFolder) throws -> String {
        _ = try ffmpeg(
            [
                "-f", "lavfi", "-i", "testsrc2=size=\(size):rate=25", "-f", "lavfi", "-i",
                "sine=frequency=\(number * 220)", "-t", "3", "-map", "0:v", "-map", "1:a", "-c:v", "libx264",
                "-preset", "ultrafast", "-g", "25", "-c:a", "aac", "-f", "hls", "-hls_time", "1",
                "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4", "-hls_fmp4_init_filename",
                "show-i\(number).mp4", "-hls_segment_filename", "show-\(number)-%d.m4s", "\(number).m3u8",
            ], in: site.path)
        return "#EXT-X-DISCONTINUITY\n#EXT-X-MAP:URI=\"show-i\(number).mp4\"\n"
            + (0..<3).map { "#EXTINF:1.0,\nshow-\(number)-\($0).m4s\n" }.joined()
    }

    @Test(arguments: ["mp4", "mkv"]) func `parts of equal codecs are joined by ffmpeg, one behind the other`(
        form: String
    ) throws {
        let (site, bench) = (try ServedFolder(), try Bench())
        let parts = try (1...2).map { try part($0, size: "160x90", in: site) }.joined()
        try serve(site, on: bench)
        let url = bench.origin.serve(
            "/show.m3u8", Payload(text: "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(parts)#EXT-X-ENDLIST\n")
        ) { $0.contentType = "application/vnd.apple.mpegurl" }
        let outcome = try bench.get(url, "--remux", form)
        #expect(outcome.code == 0 && bench.folder.names == ["show.\(form)"], "\(bench.folder.names) \(outcome)")
        for kind in ["v", "a"] {
            let found = try sequence(kind, of: "show.\(form)", in: bench.folder.path)
            let apart = try (1...2).flatMap { try sequence(kind, of: "\($0).m3u8", in: site.path).content }
            #expect(found.content == apart)
            let steps = zip(found.times, found.times.dropFirst()).map { $1 - $0 }
            #expect(steps.allSatisfy { 0.0005...0.09 ~= $0 }, "\(kind) \(steps)")
        }
    }

    @Test func `parts of other sizes stay files of their own`() throws {
        let (site, bench) = (try ServedFolder(), try Bench())
        let parts = try part(1, size: "160x90", in: site) + part(2, size: "320x180", in: site)
        try serve(site, on: bench)
        let url = bench.origin.serve(
            "/show.m3u8", Payload(text: "#EXTM3U\n#EXT-X-TARGETDURATION:1\n\(parts)#EXT-X-ENDLIST\n")
        ) { $0.contentType = "application/vnd.apple.mpegurl" }
        let outcome = try bench.get(url, "--remux", "mp4")
        #expect(outcome.code == 0 && bench.folder.names == ["show.part1.mp4", "show.part2.mp4"], "\(outcome)")
        let notices = outcome.events("notice").map(\.line).filter { $0.contains("initialization") }
        #expect(notices.count == 1 && notices[0].contains("codecs or the sizes change"), "\(outcome)")
    }

    @Test func `Periods whose sound is apart are joined, and each track keeps its distance to the others`() throws {
        let (site, bench) = (try ServedFolder(), try Bench())
        var periods = ""
        for number in 1...2 {
            _ = try ffmpeg(
                [
                    "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-f", "lavfi", "-i",
                    "sine=frequency=\(number * 220):sample_rate=48000", "-t", "3", "-map", "0:v", "-map", "1:a", "-c:v",
                    "libx264", "-preset", "veryfast", "-g", "25", "-c:a", "aac", "-f", "dash", "-seg_duration", "1",
                    "-init_seg_name", "show-\(number)-i$RepresentationID$.mp4", "-media_seg_name",
                    "show-\(number)-$RepresentationID$-$Number$.m4s", "\(number).mpd",
                ], in: site.path)
            let document = String(
                decoding: try #require(FileSystem.contents(site.path + "/\(number).mpd")), as: UTF8.self)
            let period = try #require(document.split(separator: "<Period id=\"0\" start=\"PT0.0S\">").last)
            periods += "<Period duration=\"PT3S\">" + (period.split(separator: "</Period>").first ?? "") + "</Period>"
        }
        try serve(site, on: bench)
        let document = "<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\" type=\"static\">\(periods)</MPD>"
        let url = bench.origin.serve("/show.mpd", Payload(text: document)) { $0.contentType = "application/dash+xml" }
        let outcome = try bench.get(url, "--remux", "mkv")
        #expect(outcome.code == 0 && bench.folder.names == ["show.mkv"], "\(bench.folder.names) \(outcome)")
        let begins = try ["v", "a"].map { kind in
            let found = try sequence(kind, of: "show.mkv", in: bench.folder.path)
            let apart = try (1...2).map { try sequence(kind, of: "\($0).mpd", in: site.path) }
            #expect(found.content == apart.flatMap(\.content))
            let second = apart[0].times.count
            return (found.times[second] - apart[1].times[0], found.times[0] - apart[0].times[0])
        }
        #expect(abs(begins[0].0 - begins[1].0) < 0.005 && abs(begins[0].1 - begins[1].1) < 0.005, "\(begins)")
    }

    @Test func `a transport stream becomes a file that players seek in`() throws {
        let (site, bench) = (try encoded(.transportStream), try Bench())
        try serve(site, on: bench)
        let outcome = try bench.get(bench.origin.url("/show.m3u8"), "--remux", "mp4", "-o", "film.mp4")
        #expect(outcome.code == 0 && bench.folder.names == ["film.mp4"], "\(outcome) \(bench.folder.names)")
        #expect(try packets("film.mp4", in: bench.folder.path).count == 2)
    }
}
