import Glibc
import PawlTestKit
import Testing

/// The programs in Examples, each run as a user would run it.
@Suite struct ExamplesTests {
    @Test func `A2 A4 C5 the background example is killed repeatedly until its files are complete`() throws {
        let bench = try ExampleBench()
        let payloads = (0..<3).map { Payload(seed: 900 + UInt64($0), length: 3_000_000) }
        let urls = payloads.enumerated().map { number, payload in
            bench.origin.serve("/f\(number)", payload) { $0.pace = 2_000_000 }
        }
        var kills = 0
        while kills < 30 {
            let process = try bench.start("Background", [bench.folder.path] + urls)
            let sent = bench.origin.log.bodySent()
            // The time of each kill: a third of a file has arrived since the start.
            var isAll = false
            let isMore = bench.origin.wait { log in
                isAll = (0..<3).allSatisfy { log.of("/f\($0)").last?.end == .completed }
                return isAll || log.bodySent() - sent > 1_000_000
            }
            #expect(isMore, "\(process.lines) \(process.errors)")
            process.send(SIGKILL)
            process.wait()
            if isAll { break }
            kills += 1
        }
        #expect(kills >= 3)
        let last = try bench.start("Background", [bench.folder.path] + urls)
        #expect(last.line { $0 == "done" } != nil, "\(last.lines) \(last.errors)")
        for (number, payload) in payloads.enumerated() {
            #expect(bench.folder.difference("f\(number)", from: payload) == nil)
        }
        #expect(bench.files == ["f0", "f1", "f2"])
        // A kill loses the bytes in the kernel's buffers, and never bytes received before.
        let twice = (0..<3).reduce(0) { $0 + bench.origin.log.sentTwice("/f\($1)") }
        #expect(twice < Int64(kills + 1) * 1_000_000, "\(twice) bytes again after \(kills) kills")
    }

    @Test func `B1 the one-shot example prints small content and rejects more than its limit`() throws {
        let bench = try ExampleBench()
        let text = bench.origin.serve("/t", Payload(text: "a short poem"))
        let small = try bench.run("OneShot", "memory", text)
        #expect(small.lines == ["12 bytes: a short poem"], "\(small.errors)")
        let big = bench.origin.serve("/b", Payload(seed: 910, length: 2_000_000))
        let refused = try bench.run("OneShot", "memory", big)
        #expect(refused.exit == .code(35), "\(refused.output) \(refused.errors)")
    }

    @Test func `A6 the one-shot example draws a bar up to the end`() throws {
        let bench = try ExampleBench()
        let payload = Payload(seed: 911, length: 2_000_000)
        let url = bench.origin.serve("/f", payload) { $0.pace = 4_000_000 }
        let process = try bench.run("OneShot", "file", bench.folder.path, url)
        #expect(process.lines.last == "saved \(bench.folder.path("f"))", "\(process.lines) \(process.errors)")
        #expect(process.lines.dropLast().last?.hasPrefix("[####################] 100.00 %") == true)
        #expect(bench.folder.difference("f", from: payload) == nil)
    }

    @Test func `B7 the one-shot example's button starts, pauses, resumes and is disabled`() throws {
        let bench = try ExampleBench()
        let payload = Payload(seed: 912, length: 3_000_000)
        let url = bench.origin.serve("/f", payload) { $0.pace = 2_000_000 }
        let process = try bench.run("OneShot", "toggle", bench.folder.path, url)
        let words = process.lines.compactMap { $0.split(separator: " ").dropFirst().first.map(String.init) }
        #expect(process.lines.first == "button: download")
        #expect(words.contains("pause") && words.contains("continue"), "\(process.lines) \(process.errors)")
        #expect(process.lines.suffix(2) == ["button: done", "saved \(bench.folder.path("f"))"])
        #expect(bench.folder.difference("f", from: payload) == nil)
    }

    @Test func `C1 C3 the video example names by hash, prints totals, and fetches nothing twice`() throws {
        let bench = try ExampleBench()
        let payloads = (0..<3).map { Payload(seed: 920 + UInt64($0), length: 400_000) }
        let urls = payloads.enumerated().map { bench.origin.serve("/\($0)/lesson.mp4", $1) }
        let process = try bench.start("OfflineVideo", [bench.folder.path] + urls)
        process.wait()
        #expect(process.lines.contains("1200000 of 1200000 bytes in 3 videos"), "\(process.lines) \(process.errors)")
        #expect(bench.files.count == 3)
        #expect(bench.files.allSatisfy { $0.hasSuffix(".mp4") && $0.utf8.count == 36 }, "\(bench.files)")
        for (url, payload) in zip(urls, payloads) {
            let line = try #require(process.lines.first { $0.hasPrefix("\(url) is ") })
            #expect(FileSystem.difference(of: String(line.dropFirst(url.count + 4)), from: payload) == nil)
        }
        let again = try bench.start("OfflineVideo", [bench.folder.path] + urls)
        again.wait()
        #expect(bench.origin.log.bodySent() == 1_200_000)
        #expect(again.lines.count == 4, "\(again.lines)")
    }

    @Test func `the video example makes one file of a programme in segments`() throws {
        let bench = try ExampleBench()
        let packet: [UInt8] = [0x47, 0x40, 0x11, 0x10] + [UInt8](repeating: 7, count: 184)
        for number in 0..<3 { bench.origin.serve("/s\(number).ts", Payload(packet + packet)) }
        let list = (0..<3).map { "#EXTINF:2,\ns\($0).ts\n" }.joined()
        let url = bench.origin.serve(
            "/lesson.m3u8", Payload(text: "#EXTM3U\n#EXT-X-TARGETDURATION:2\n\(list)#EXT-X-ENDLIST\n"))
        let process = try bench.run("OfflineVideo", bench.folder.path, url)
        let file = try #require(bench.files.first)
        #expect(file.hasSuffix(".ts") && file.utf8.count == 35, "\(bench.files) \(process.lines) \(process.errors)")
        #expect(process.lines.contains { $0.hasPrefix("\(url) is ") }, "\(process.lines)")
        #expect(bench.folder.difference(file, from: Payload((0..<6).flatMap { _ in packet })) == nil)
    }

    @Test func `E1 E2 C6 the hostile server's example keeps complete files and reports why it rejects others`() throws {
        let bench = try ExampleBench()
        let payload = Payload(seed: 930, length: 900_000)
        let broken = bench.origin.serve("/broken", payload) {
            $0.cut = .reset(after: 500_000)
            $0.ranges = .ignored
        }
        bench.origin.vary("/broken") { facts, behaviour in if facts.ordinal > 0 { behaviour.cut = nil } }
        let shifted = bench.origin.serve("/shifted", payload) {
            $0.cut = .reset(after: 500_000)
            $0.ranges = .shifted(by: 7)
        }
        let mute = bench.origin.serve("/mute", payload) {
            $0.cut = .reset(after: 500_000)
            $0.ranges = .unresponsive
        }
        bench.origin.vary("/mute") { facts, behaviour in if facts.ordinal > 0 { behaviour.cut = nil } }
        let page = bench.origin.url("/nowhere")
        let process = try bench.start("HostileServer", [bench.folder.path, broken, mute, shifted, page])
        process.wait()
        #expect(process.lines.contains("complete: \(bench.folder.path("broken")), 900000 bytes"), "\(process.lines)")
        #expect(process.lines.first == "started again: false")
        #expect(bench.folder.difference("broken", from: payload) == nil)
        #expect(bench.folder.difference("mute", from: payload) == nil)
        #expect(process.lines.last?.hasPrefix("failed: ") == true, "\(process.errors)")
        for name in bench.files where name == "shifted" { #expect(bench.folder.difference(name, from: payload) == nil) }
        #expect(!bench.files.contains("nowhere"))
        let cleared = try bench.start("HostileServer", [bench.folder.path, "--clear", broken, mute, shifted, page])
        cleared.wait()
        #expect(cleared.lines.count == 4, "\(cleared.lines)")
        #expect(bench.files.isEmpty, "\(bench.files)")
    }

    @Test func `A8 the example of changing addresses resumes from each of them`() throws {
        let bench = try ExampleBench()
        let payload = Payload(seed: 940, length: 3_000_000)
        // A URL is valid for a third of the file.
        let urls = (0..<4).map { number in
            let url = bench.origin.serve("/film", payload)
            return "\(url)?signature=\(number)"
        }
        bench.origin.vary("/film") { facts, behaviour in
            if facts.ordinal.isMultiple(of: 2) {
                behaviour.cut = facts.ordinal < 4 ? .reset(after: 1_000_000) : nil
            } else {
                behaviour.instead = .status(403)
            }
        }
        let process = try bench.start("ChangingAddress", [bench.folder.path] + urls)
        process.wait()
        #expect(process.lines.last == "complete: \(bench.folder.path("film")), 3000000 bytes", "\(process.lines)")
        #expect(bench.folder.difference("film", from: payload) == nil)
        #expect(bench.files == ["film"])
    }

    @Test(.enabled(if: IndexServerKind.nginx.isAvailable, "needs nginx"))
    func `the mirror example follows a release directory`() throws {
        let bench = try ExampleBench()
        let site = try ServedFolder()
        for (index, name) in ["a.iso", "b.iso"].enumerated() {
            try site.add(name, Payload(seed: UInt64(920 + index), length: 100_000))
        }
        let server = try IndexServer(.nginx, site)
        let first = try bench.run("Mirror", bench.folder.path, server.url("/"))
        #expect(first.lines.last == "2 new, 0 unchanged, 0 failed", "\(first.lines) \(first.errors)")
        unsafe unlink("\(site.path)/a.iso")
        try site.add("c.iso", Payload(seed: 930, length: 50))
        let second = try bench.run("Mirror", bench.folder.path, server.url("/"))
        #expect(second.lines == ["removed a.iso", "1 new, 1 unchanged, 0 failed"], "\(second.lines) \(second.errors)")
        #expect(bench.files == ["b.iso", "c.iso"])
    }
}
