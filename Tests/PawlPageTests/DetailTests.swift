import Pawl
import PawlCore
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// One download looked at closely, and its content when it is there.
    @Suite struct DetailTests {
        @Test func `segments, connections, the answer and the verdicts are told, secrets are not`()
            async throws
        {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 8 << 20)) {
                    $0.pace = 100_000
                    $0.contentType = "video/x-film"
                }
                let order: JSON = [
                    [
                        "url": .string(url),
                        "options": ["header": ["X-Plain: seen", "Authorization: Bearer hidden"]],
                    ]
                ]
                _ = try await bench.call("pawl.add", [order])
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Downloading'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.lanes .lane-speed')")
                let detail = "document.querySelector('#detail').textContent"
                for text in ["X-Plain: seen", "video/x-film", "of 8", "From the beginning"] {
                    try await page.wait("\(detail).includes('\(text)')")
                }
                #expect(try await page.evaluate("\(detail).includes('hidden')") == .bool(false))
                // What is drawn is more than the empty track.
                try await page.wait(
                    """
                    (() => {
                      const canvas = document.querySelector(".segment-map");
                      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                      const colours = new Set();
                      for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 4).join());
                      return colours.size > 2;
                    })()
                    """
                )
            }
        }

        @Test func `a server that ignores ranges is told in the log`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/film.bin", Payload(seed: 2, length: 2 << 20)) {
                    $0.ranges = .ignored
                    $0.cut = .close(after: 1 << 20)
                }
                _ = try await bench.call("pawl.add", [[.string(url)]])
                try await page.wait("document.querySelector('.row .row-name')?.textContent === 'film.bin'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait(
                    "document.querySelector('.log [data-event=retry], .log [data-event=notice]')"
                )
            }
        }

        @Test func `an image is shown, and a video plays and seeks`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                bench.origin.serve("/picture.png", Payload(Pictures.png)) { $0.contentType = "image/png" }
                bench.origin.serve("/film.webm", Payload(try await Pictures.film(in: page))) {
                    $0.contentType = "video/webm"
                }
                for name in ["picture.png", "film.webm"] {
                    _ = try await bench.manager.add(bench.origin.url("/\(name)"))
                    try await page.wait("\(PageBench.text(of: name, ".cell-state")) === 'Finished'")
                }
                try await page.focusList()
                try await page.press("/")
                try await page.type("picture")
                try await page.press("Escape")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.preview img').naturalWidth === 2")

                try await page.press("/")
                try await page.type("film")
                try await page.press("Escape")
                try await page.focusList()
                try await page.press("Home")
                let video = "document.querySelector('.preview video')"
                try await page.wait("\(video)?.readyState >= 2")
                try await page.evaluate("\(video).play()")
                try await page.wait("\(video).currentTime > 0.1")
                try await page.evaluate("\(video).currentTime = 3")
                try await page.wait("!\(video).seeking && \(video).currentTime >= 3")
            }
        }

        @Test func `a page that was downloaded is never shown as a page`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                bench.origin.serve("/evil.html", Payload(text: "<script>alert(1)</script>")) {
                    $0.contentType = "text/html"
                }
                let download = try await bench.manager.add(bench.origin.url("/evil.html"))
                _ = try await download.file
                let told = try await page.evaluate(
                    """
                    fetch("/files/\(download.id)").then((answer) => ["content-type", "content-disposition",
                      "x-content-type-options", "content-security-policy"].map((name) => answer.headers.get(name)))
                    """
                )
                let fields = (told.array ?? []).compactMap(\.string)
                try #require(fields.count == 4)
                #expect(fields[0] == "application/octet-stream")
                #expect(fields[1].hasPrefix(#"attachment; filename="evil.html""#))
                #expect(fields[2] == "nosniff")
                #expect(fields[3].hasPrefix("sandbox"))
            }
        }
    }
}
