import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// The details of one download, and its content if it exists.
    @Suite struct DetailTests {
        @Test func `segments, connections, the response and the verdicts are shown, secrets are not`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 8 << 20)) {
                    $0.pace = 100_000
                    $0.contentType = "video/x-film"
                }
                let order: JSON = [
                    ["url": .string(url), "options": ["header": ["X-Plain: seen", "Authorization: Bearer hidden"]]]
                ]
                _ = try await bench.call("pawl.add", [order])
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Downloading'")
                try await page.lookCloser()
                try await page.wait("document.querySelector('.lanes .lane-speed')")
                let detail = "document.querySelector('#detail').textContent"
                for text in ["X-Plain: seen", "video/x-film", "of 8", "From the beginning"] {
                    try await page.wait("\(detail).includes('\(text)')")
                }
                #expect(try await page.evaluate("\(detail).includes('hidden')") == .bool(false))
                // The drawing is more than the empty track, and more than the rulers.
                for canvas in [".segment-map", ".detail .chart", "#gauge-chart"] {
                    try await page.wait(
                        """
                        (() => {
                          const canvas = document.querySelector("\(canvas)");
                          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                          const colours = new Set();
                          for (let at = 0; at < data.length; at += 4) colours.add(data.slice(at, at + 4).join());
                          return colours.size > 2;
                        })()
                        """)
                }
                try await page.wait("\(detail).includes('at most')")
                // Every connection shows its speed.
                try await page.wait(
                    "[...document.querySelectorAll('.lane-speed')].some((lane) => lane.textContent.endsWith('B/s'))")
            }
        }

        @Test(arguments: [
            ("en-US", "the server sends only the whole file: comparing it with the bytes on disk", "next attempt in"),
            ("zh-CN", "服务器只发送整个文件：正与已有内容比较", "后重试"),
        ]) func `E2 decisions are shown with their evidence, in the language of the page`(
            language: String, verdict: String, retry: String
        ) async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/film.bin", Payload(seed: 2, length: 2 << 20)) { $0.ranges = .ignored }
                bench.origin.vary("/film.bin") { facts, behaviour in
                    if !facts.hasRange { behaviour.cut = .close(after: 1 << 20) }
                }
                let page = try await bench.page(BrowserPage.Look(language: language))
                _ = try await bench.call("pawl.add", [[["url": .string(url), "options": ["connections": "1"]]]])
                try await page.wait("document.querySelector('.row').dataset.part === 'finished'")
                try await page.lookCloser()
                let log = "document.querySelector('.log [data-event=notice]').textContent"
                try await page.wait("\(log).endsWith('\(verdict)')")
                let attempt = "document.querySelector('.log [data-event=retry]').textContent"
                try await page.wait("\(attempt).includes('\(retry)')")
            }
        }

        @Test func `a checksum is shown as given, right or wrong, and every source is listed`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/right.txt", Payload(text: "pawl"))
                let wrong = bench.origin.serve("/wrong.txt", Payload(text: "other"))
                let digest: JSON = ["checksum": "md5=b1173a4959f0f13f19a0f776e203de99"]
                let mirror = bench.origin.serve("/mirror.txt", Payload(text: "pawl"))
                let order: JSON = [["url": .string(url), "options": digest, "mirrors": [.string(mirror)]]]
                _ = try await bench.call("pawl.add", [order])
                try await page.wait("\(PageBench.text(of: "right.txt", ".cell-state")) === 'Finished'")
                try await page.lookCloser()
                let detail = "document.querySelector('#detail').textContent"
                try await page.wait(
                    "\(detail).includes('by the given checksum, weak\\nmd5=b1173a4959f0f13f19a0f776e203de99')")
                try await page.wait("\(detail).includes('\(mirror)')")
                #expect(
                    try await page.evaluate("document.querySelector('.detail-shield').textContent")
                        == "Verified by the given checksum, weak algorithm md5")
                _ = try await bench.call("pawl.add", [[["url": .string(wrong), "options": digest]]])
                try await page.wait("\(PageBench.text(of: "wrong.txt", ".cell-state")) === 'Failed'")
                try await page.press("6")
                try await page.focusList()
                try await page.press("Home")
                try await page.wait("\(detail).includes('b1173a4959f0f13f19a0f776e203de99 · Does not match')")
            }
        }

        @Test func `the failure of one download is not shown with another`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                bench.origin.serve("/secret.bin", Payload([])) { $0.instead = .status(403) }
                let good = bench.origin.serve("/good.bin", Payload(seed: 1, length: 1000))
                _ = try await bench.manager.add(bench.origin.url("/secret.bin"))
                _ = try await bench.manager.add(good)
                let open = { (name: String) in
                    try await page.evaluate("\(PageBench.row(name)).querySelector('.info').click()")
                    try await page.wait("document.querySelector('.detail-title').textContent === '\(name)'")
                }
                let help = "document.querySelector('.detail-help')"
                try await page.wait("\(PageBench.text(of: "secret.bin", ".cell-state")) === 'Failed'")
                try await page.wait("\(PageBench.text(of: "good.bin", ".cell-state")) === 'Finished'")
                for isClosed in [true, false] {
                    try await open("secret.bin")
                    try await page.wait("!\(help).hidden")
                    #expect(
                        try await page.evaluate(
                            "[...document.querySelectorAll('[data-remedy]')].map(({ dataset }) => dataset.remedy).join()"
                        ) == "replaceURL,signIn,edit,retry")
                    if isClosed { try await page.press("Escape") }
                    try await open("good.bin")
                    #expect(try await page.evaluate("\(help).hidden") == .bool(true))
                }
            }
        }

        @Test func `every failure has the commands that may help`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let found = try await page.evaluate(
                    """
                    import("/commands.js").then(({ remediesOf }) =>
                      [19, 24, 3, 32, 6, 8, 18, 13, 1].map((code) => remediesOf({ state: "failed", error: { code } }).join("+")))
                    """)
                let wanted: JSON = [
                    "replaceURL+retry", "signIn+replaceURL", "replaceURL", "edit+startOver", "retry+replaceURL",
                    "replaceURL+startOver", "changeFolder+retry", "rename", "retry",
                ]
                #expect(found == wanted)
                let ofServer = try await page.evaluate(
                    """
                    Promise.all([import("/commands.js"), import("/words.en.js")]).then(([{ remediesOf }, { english }]) => {
                      const error = { code: 22, message: "x", cause: { messageID: "http-status", values: ["500"], message: "x" } };
                      return remediesOf({ state: "failed", error }).join() + " " + english.reason(error);
                    })
                    """)
                #expect(ofServer.string?.hasPrefix("retry,replaceURL ") == true, "\(ofServer)")
                #expect(ofServer.string?.hasSuffix("retry later") == true, "\(ofServer)")
                // A folder that has the part file cannot be changed.
                let begun = try await page.evaluate(
                    "import('/commands.js').then(({ remediesOf }) => remediesOf({ name: 'a', state: 'failed', error: { code: 18 } }))"
                )
                #expect(begun == ["retry"])
                let texts = try await page.evaluate(
                    """
                    Promise.all([import("/words.en.js"), import("/words.js")]).then(async ([{ english }, { textsIn }]) => {
                      const all = [english, ...await Promise.all(["de", "es", "fr", "ja", "pt", "zh"].map(textsIn))];
                      return [2, 3, 5, 6, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19, 22, 23, 24, 28, 29, 32, 33].flatMap((code) =>
                        all.filter(({ reason }) => !/[;；，。]/.test(reason({ code, message: "x" }))).map(() => code));
                    })
                    """)
                #expect(texts == [], "failures without advice")
            }
        }

        @Test func `the head says how far a download is, how fast, and until when`() async throws {
            try await PageBench.with { bench in
                bench.origin.serve("/long.iso", Payload(seed: 1, length: 600 << 20)) { $0.pace = 400_000 }
                _ = try await bench.manager.add(bench.origin.url("/long.iso"))
                let page = try await bench.page(BrowserPage.Look(width: 390, height: 780, isPhone: true))
                try await page.wait("\(PageBench.text(of: "long.iso", ".cell-speed")) !== ''")
                try await page.click(".row .row-name")
                try await page.wait(
                    #"""
                    (() => {
                      const figures = document.querySelector(".detail-figures").textContent.replaceAll("\u00a0", " ").split(" · ");
                      return figures.length === 4 && [/^[\d.]+%$/, / of 600 MiB$/, /B\/s$/, / left$/].every((form, index) => form.test(figures[index]));
                    })()
                    """#)
                try await page.wait("document.querySelector('.detail-words .bar').ariaValueNow !== null")
                #expect(try await page.problems() == [])
            }
        }

        @Test func `a download whose content became another starts over on request`() async throws {
            try await PageBench.with { bench in
                let (old, new) = (Payload(seed: 4, length: 3 << 20), Payload(seed: 5, length: 2 << 20))
                let url = bench.origin.serve("/changed.bin", old) { $0.cut = .stall(after: 1 << 20) }
                let page = try await bench.page()
                var request = DownloadRequest(url)
                request.options.connections = 1
                request.group = "films"
                let first = try await bench.manager.add(request)
                try await page.wait("\(PageBench.text(of: "changed.bin", ".cell-state")) === 'Downloading'")
                try await bench.until(first.id) { $0.written > 0 }
                // Another URL whose content is another.
                let other = bench.origin.serve("/other/changed.bin", new)
                _ = try await bench.call("pawl.url", [.string(first.id.description), .string(other)])
                try await page.wait("\(PageBench.text(of: "changed.bin", ".cell-state")) === 'Failed'")
                try await page.wait("\(PageBench.text(of: "changed.bin", ".remedy")) === 'Replace URL…'")
                try await page.evaluate("\(PageBench.row("changed.bin")).querySelector('.info').click()")
                try await page.click(".detail [data-remedy=startOver]")
                try await page.wait(
                    "document.querySelector('.question').textContent.includes('changed.bin will be discarded')")
                try await page.click(".question .is-dangerous")
                try await page.wait("\(PageBench.text(of: "changed.bin", ".cell-state")) === 'Finished'")
                #expect(bench.difference("changed.bin", from: new) == nil)
                let downloads = try await bench.manager.downloads()
                #expect(downloads.map(\.id) == [first.id] && downloads.map(\.group) == ["films"])
            }
        }

        @Test func `a sound plays and seeks`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                bench.origin.serve("/noise.wav", Payload(Sounds.wave(seconds: 60))) { $0.contentType = "audio/wav" }
                _ = try await bench.manager.add(bench.origin.url("/noise.wav"))
                try await page.wait("\(PageBench.text(of: "noise.wav", ".cell-state")) === 'Finished'")
                try await page.lookCloser()
                let sound = "document.querySelector('.preview audio')"
                try await page.wait("\(sound)?.readyState >= 2 && Math.round(\(sound).duration) === 60")
                #expect(try await page.evaluate("\(sound).controls") == .bool(true))
                #expect(try await page.evaluate("\(sound).ariaLabel") == "Audio: noise.wav")
                try await page.evaluate("\(sound).play()")
                try await page.wait("\(sound).currentTime > 0.1")
                try await page.evaluate("\(sound).currentTime = 50")
                try await page.wait("!\(sound).seeking && \(sound).currentTime >= 50")
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
                try await page.press("Enter")
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.preview img').naturalWidth === 2")

                try await page.press("/")
                try await page.press("Escape")
                try await page.type("film")
                try await page.press("Enter")
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
                let output = try await page.evaluate(
                    """
                    fetch("/files/\(download.id)").then((response) => ["content-type", "content-disposition",
                      "x-content-type-options", "content-security-policy"].map((name) => response.headers.get(name)))
                    """)
                let fields = (output.array ?? []).compactMap(\.string)
                try #require(fields.count == 4)
                #expect(fields[0] == "application/octet-stream")
                #expect(fields[1].hasPrefix(#"attachment; filename="evil.html""#))
                #expect(fields[2] == "nosniff")
                #expect(fields[3].hasPrefix("sandbox"))
            }
        }
    }
}

extension BrowserPage {
    /// Opens the details of the first row.
    func lookCloser() async throws {
        try await focusList()
        try await press("Home")
        try await press("Enter")
        try await wait("document.querySelector('.detail-title')")
    }
}
