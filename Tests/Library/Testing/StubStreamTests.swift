import Foundation
import Pawl
import PawlTesting
import Synchronization
import Testing

/// Streams from an origin in the program itself.
@Suite struct StubStreamTests {
    private let scratch: Scratch
    private let segments: [[UInt8]]

    init() throws {
        scratch = try Scratch()
        segments = (0..<5).map { Self.packets(20, seed: UInt64($0) + 1) }
    }

    /// A transport stream of so many packets.
    private static func packets(_ count: Int, seed: UInt64) -> [UInt8] {
        let content = makeContent(count * 184, seed: seed)
        var packets: [UInt8] = []
        for number in 0..<count {
            packets += [0x47, 0x40, 0x11, 0x10]
            packets += content[number * 184..<(number + 1) * 184]
        }
        return packets
    }

    private func playlist(_ names: [String], key: String = "") -> StubResponse {
        let text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n" + key + names.map { "#EXTINF:2,\n\($0)\n" }.joined()
        var response = StubResponse.ok(Array((text + "#EXT-X-ENDLIST\n").utf8))
        response.headers["Content-Type"] = "application/vnd.apple.mpegurl"
        return response
    }

    private func number(_ request: StubRequest) -> Int? {
        request.path.hasSuffix(".ts") ? Int(request.path.dropFirst(2).dropLast(3)) : nil
    }

    private func download(
        _ url: String, _ origin: StubOrigin, live: Duration? = nil, notices: Notices = Notices()
    ) async throws -> DownloadedFile {
        var configuration = Downloader.Configuration()
        configuration.transport = origin.transport
        var options = DownloadOptions()
        (options.folder, options.retries) = (scratch.path, 0)
        var stream = StreamOptions()
        stream.live = live
        let downloader = Downloader(configuration) { event in
            if case .notice(let notice) = event.kind { notices.add(notice.description) }
        }
        let download = try downloader.addStream(url, options: options, stream: stream)
        download.resume()
        let file: DownloadedFile
        do { file = try await download.file } catch {
            await downloader.shutDown()
            throw error
        }
        await downloader.shutDown()
        return file
    }

    final class Notices: Sendable {
        private let state = Mutex<[String]>([])
        var texts: [String] { state.withLock { $0 } }
        func add(_ text: String) { state.withLock { $0.append(text) } }
    }

    @Test(arguments: [
        ["http://h/s0.ts"], ["s0.ts", "late.ts"], ["s0.ts", "chain.ts"],
    ]) func `from a playlist that came over https nothing leads to http, at whichever hop`(names: [String]) async throws
    {
        let origin = StubOrigin { request in
            switch request.path {
            // The playlist itself is asked for without encryption.
            case "/show.m3u8":
                return request.url.hasPrefix("http:") ? .redirect(to: "https://h/show.m3u8") : self.playlist(names)
            case "/late.ts": return .redirect(to: "http://other/s1.ts")
            case "/chain.ts": return .redirect(to: "https://other/late.ts")
            default: return self.number(request).map { .ok(self.segments[$0]) } ?? .status(404)
            }
        }
        let error = await #expect(throws: PawlError.self) { try await download("http://h/show.m3u8", origin) }
        #expect(error?.code == .insecure, "\(String(describing: error))")
        #expect(origin.requests.allSatisfy { $0.path == "/show.m3u8" || $0.url.hasPrefix("https:") })
        #expect(!scratch.names.contains("show.ts"))
    }

    @Test func `keys of a playlist that came over https are not requested over http`() async throws {
        let origin = StubOrigin { request in
            request.path == "/show.m3u8"
                ? self.playlist(["s0.ts"], key: "#EXT-X-KEY:METHOD=AES-128,URI=\"http://h/key\"\n")
                : .ok(self.segments[0])
        }
        let error = await #expect(throws: PawlError.self) { try await download("https://h/show.m3u8", origin) }
        #expect(error?.code == .insecure && origin.requests(for: "/key").isEmpty)
    }

    @Test func `a segment that is too large for memory is joined like the others`() async throws {
        let large = Self.packets(95_000, seed: 9)
        #expect(large.count > 16 << 20)
        let all = [segments[0], large, segments[1]]
        let origin = StubOrigin { request in
            request.path == "/show.m3u8"
                ? self.playlist((0..<3).map { "s\($0).ts" }) : self.number(request).map { .ok(all[$0]) } ?? .status(404)
        }
        let file = try await download("https://h/show.m3u8", origin)
        #expect(file.path == scratch.path + "/show.ts" && file.length == Int64(all.reduce(0) { $0 + $1.count }))
        #expect(try scratch.bytes(of: "show.ts") == all.flatMap { $0 })
        #expect(scratch.names == ["show.ts"])
    }

    @Test func `a large segment that is wrong is never joined`() async throws {
        var large = Self.packets(95_000, seed: 9)
        large.removeLast()
        let wrong = large
        let origin = StubOrigin { request in
            request.path == "/show.m3u8"
                ? self.playlist(["s0.ts", "s1.ts"]) : .ok(request.path == "/s1.ts" ? wrong : self.segments[0])
        }
        let error = await #expect(throws: PawlError.self) { try await download("https://h/show.m3u8", origin) }
        #expect(error?.description.contains("no multiple of 188") == true, "\(String(describing: error))")
        #expect(!scratch.names.contains("show.ts"))
    }

    @Test func `damage of the part file that changed no length is noticed before it gets its name`() async throws {
        let names = segments.indices.map { "s\($0).ts" }
        let broken = StubOrigin { request in
            guard let number = self.number(request) else { return self.playlist(names) }
            return number == 3 ? .status(404) : .ok(self.segments[number])
        }
        await #expect(throws: PawlError.self) { try await download("https://h/show.m3u8", broken) }
        var part = try scratch.bytes(of: "show.ts.part")
        #expect(part == segments[0..<3].flatMap { $0 })
        part[700] ^= 1
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: scratch.path + "/show.ts.part"))
        try handle.write(contentsOf: Data(part))
        try handle.close()
        let whole = StubOrigin { request in self.number(request).map { .ok(self.segments[$0]) } ?? self.playlist(names)
        }
        let notices = Notices()
        _ = try await download("https://h/show.m3u8", whole, notices: notices)
        #expect(notices.texts.contains { $0.contains("the part file was changed since") }, "\(notices.texts)")
        #expect(try scratch.bytes(of: "show.ts") == segments.flatMap { $0 })
    }

    // MARK: DASH

    private static func box(_ type: String, _ content: [UInt8] = []) -> [UInt8] {
        withUnsafeBytes(of: UInt32(content.count + 8).bigEndian) { Array($0) } + Array(type.utf8) + content
    }

    @Test func `a presentation that is running is recorded, with each segment once, until it ends`() async throws {
        let initialization = Self.box("ftyp", Array("iso6".utf8)) + Self.box("moov", Self.box("mvhd", [1, 2, 3, 4]))
        let fragments = (0..<7).map { number in
            Self.box("moof", Self.box("mfhd")) + Self.box("mdat", makeContent(3_000, seed: UInt64(number) + 3))
        }
        @Sendable func presentation(_ first: Int, _ count: Int, type: String = "dynamic") -> StubResponse {
            let text = """
                <MPD type="\(type)" availabilityStartTime="2020-01-01T00:00:00Z" minimumUpdatePeriod="PT1S">
                <Period start="PT0S"><AdaptationSet mimeType="video/mp4"><Representation id="v" bandwidth="9">
                <SegmentTemplate timescale="10" initialization="i.mp4" media="$Time$.m4s"><SegmentTimeline>
                <S t="\(first * 10)" d="10" r="\(count - 1)"/></SegmentTimeline></SegmentTemplate></Representation>
                </AdaptationSet></Period></MPD>
                """
            var response = StubResponse.ok(Array(text.utf8))
            response.headers["Content-Type"] = "application/dash+xml"
            return response
        }
        let origin = StubOrigin { request in
            switch request.path {
            case "/show.mpd":
                switch request.number {
                case 1: return presentation(0, 3)
                case 2: return presentation(1, 4)
                case _: return presentation(3, 4, type: "static")
                }
            case "/i.mp4": return .ok(initialization)
            case _:
                guard let time = Int(request.path.dropFirst().dropLast(4)) else { return .status(404) }
                return .ok(fragments[time / 10])
            }
        }
        let notices = Notices()
        let file = try await download("https://h/show.mpd", origin, live: .seconds(600), notices: notices)
        #expect(file.path == scratch.path + "/show.mp4")
        #expect(try scratch.bytes(of: "show.mp4") == initialization + fragments.flatMap { $0 })
        #expect(notices.texts.contains { $0.contains("the programme has ended") }, "\(notices.texts)")
        #expect(fragments.indices.allSatisfy { origin.requests(for: "/\($0 * 10).m4s").count == 1 })
        let refused = await #expect(throws: PawlError.self) {
            try await download("https://h/show.mpd", StubOrigin { _ in presentation(0, 3) })
        }
        #expect(refused?.description.contains("still running") == true, "\(String(describing: refused))")
    }
}
