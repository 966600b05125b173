import Pawl
import PawlTesting
import Testing

/// Request header fields as lines, and as names and values.
@Suite struct HeaderFieldTests {
    @Test func `setting a field leaves the lines of others as they are`() {
        var options = DownloadOptions()
        options.headers = ["X-Empty;", "accept : text/html", "X-Gone:"]
        options.setHeader("Accept", to: "*/*")
        #expect(options.headers == ["X-Empty;", "X-Gone:", "Accept: */*"])
        options.setHeader("x-gone", to: nil)
        #expect(options.headers == ["X-Empty;", "Accept: */*"])
        options.setHeader("User-Agent", to: "")
        #expect(options.headers.last == "User-Agent:")
    }

    @Test func `fields are sent as they were given, and one with an empty value is left out`() async throws {
        let folder = try Scratch()
        let origin = StubOrigin { _ in .ok([1]) }
        let downloads = downloader(origin, in: folder) { options in
            options.headerFields = [
                DownloadResponse.Field(name: "X-Kind", value: "film"),
                DownloadResponse.Field(name: "User-Agent", value: ""),
            ]
            #expect(options.headers == ["X-Kind: film", "User-Agent:"])
            #expect(options.headerFields.map(\.name) == ["X-Kind", "User-Agent"])
        }
        _ = try await downloads.download("https://h.example/a")
        let request = try #require(origin.requests.first)
        #expect(request.value(of: "X-Kind") == "film" && request.value(of: "User-Agent") == nil)
    }
}
