import Pawl
import PawlBase
import PawlServer
import PawlSystem
import PawlTestKit
import Testing

extension BrowserTests {
    /// The extension of `Integrations/browser`, loaded into a Chromium.
    @Suite struct ExtensionTests {
        private static let source = Checkout.root + "/Integrations/browser"

        /// The popup as a page, paired with the service by a one-time link.
        private func popup(_ bench: PageBench, folder: String = source) async throws -> BrowserPage {
            let loaded = try await bench.browser.call("Extensions.loadUnpacked", ["path": .string(folder)])
            let id = try #require(loaded["id"]?.string)
            let popup = try await BrowserPage(bench.browser, isApart: false)
            try await popup.open("chrome-extension://\(id)/popup.html")
            try await popup.wait("document.activeElement?.id === 'link'")
            try await popup.type(try #require(try await bench.call("pawl.web")["url"]?.string))
            try await popup.click("#pairing button")
            try await popup.wait("document.querySelector('#summary').textContent !== ''")
            return popup
        }

        /// A page of the origin with links to these paths.
        private func links(_ bench: PageBench, _ paths: String...) async throws -> BrowserPage {
            let text = paths.enumerated().map { "<p><a id=\"link-\($0)\" href=\"\($1)\">\($1)</a>" }.joined()
            bench.origin.serve("/links", Payload(text: "<!doctype html>\(text)")) { $0.contentType = "text/html" }
            let page = try await BrowserPage(bench.browser, isApart: false)
            try await page.open(bench.origin.url("/links"))
            try await page.wait("document.querySelector('#link-0')")
            return page
        }

        private static let downloads =
            "chrome.downloads.search({}).then((all) => all.map(({ url, state }) => [url, state]))"

        private func untilComplete(_ url: String, in popup: BrowserPage) async throws {
            try await popup.evaluate(
                """
                new Promise((done) => {
                  const look = () => chrome.downloads.search({ url: \(JSON.string(url).text), state: "complete" }).then((found) => found.length > 0 && done(true));
                  chrome.downloads.onChanged.addListener(look);
                  look();
                })
                """)
        }

        @Test func `a large download is handed over with its page and user agent, a small one stays`() async throws {
            try await PageBench.with(hasExtensions: true) { bench in
                let payload = Payload(seed: 1, length: 3 << 20)
                let large = bench.origin.serve("/film.bin", payload) { $0.contentType = "application/octet-stream" }
                let small = bench.origin.serve("/note.bin", Payload(seed: 2, length: 1000)) {
                    $0.contentType = "application/octet-stream"
                }
                let popup = try await popup(bench)
                #expect(try await popup.problems() == [])
                let page = try await links(bench, "/film.bin", "/note.bin")
                try await page.click("#link-0")
                try await popup.wait(
                    "document.querySelector('#downloads [data-state=finished] .name')?.textContent === 'film.bin'")
                #expect(bench.difference("film.bin", from: payload) == nil)
                #expect(try await popup.evaluate(Self.downloads) == [])
                let requests = bench.origin.log.of("/film.bin").map(\.request)
                // That of the browser, that of the check, and that of the download, which may be several.
                #expect(requests.count >= 3)
                for request in requests.dropFirst() {
                    #expect(request.header("Referer") == bench.origin.url("/links"))
                    // That of this test's pages is another.
                    #expect(request.header("User-Agent")?.hasPrefix("Mozilla/5.0") == true)
                }
                try await page.click("#link-1")
                try await untilComplete(small, in: popup)
                #expect(bench.origin.log.of("/note.bin").count == 1)
                #expect(try await bench.manager.downloads().count == 1)
                #expect(try await bench.manager.download(ofURL: large) != nil)
            }
        }

        @Test func `what needs cookies stays with the browser, and the popup offers to send those of the site`()
            async throws
        {
            try await PageBench.with(hasExtensions: true) { bench in
                let payload = Payload(seed: 1, length: 3 << 20)
                bench.origin.serve("/private.bin", payload) { $0.contentType = "application/octet-stream" }
                bench.origin.vary("/private.bin") { facts, behaviour in
                    if facts.request.header("Cookie")?.contains("session=abc") != true {
                        behaviour.instead = .status(403)
                    }
                }
                let popup = try await popup(bench)
                let page = try await links(bench, "/private.bin")
                try await page.evaluate("document.cookie = 'session=abc'")
                try await page.click("#link-0")
                try await untilComplete(bench.origin.url("/private.bin"), in: popup)
                try await popup.wait(
                    "document.querySelector('.notice .allow')?.textContent === 'Send cookies of 127.0.0.1'")
                #expect(try await popup.problems() == [])
                #expect(try await bench.manager.downloads().isEmpty)
                #expect(
                    !bench.origin.log.of("/private.bin").dropFirst().contains { $0.request.header("Cookie") != nil })
                // The popup is drawn anew each second.
                try await popup.click(".notice .dismiss") {
                    try await popup.evaluate(
                        """
                        new Promise((done) => new MutationObserver(() => done(true)).observe(document.querySelector("#summary"), { childList: true }))
                        """)
                }
                try await popup.wait("!document.querySelector('.notice')")
            }
        }

        @Test func `with consent the cookies of that site are sent, and none of another`() async throws {
            // Granted in the manifest: nobody is there who could answer the browser's question.
            let files = try TemporaryFolder()
            _ = try PawlProcess.run("/bin/cp", ["-r", Self.source, files.path("extension")])
            let path = files.path("extension/manifest.json")
            let manifest = String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self)
                .replacing("\"permissions\": [", with: "\"permissions\": [\"cookies\", ")
                .replacing("\"optional_permissions\": [\"cookies\"],", with: "")
            try FileSystem.write(Array(manifest.utf8), to: path)
            try await PageBench.with(hasExtensions: true) { bench in
                for name in ["one.bin", "two.bin"] {
                    bench.origin.serve("/\(name)", Payload(seed: 1, length: 3 << 20)) {
                        $0.contentType = "application/octet-stream"
                    }
                }
                let popup = try await popup(bench, folder: files.path("extension"))
                let page = try await links(bench, "/one.bin", "/two.bin")
                try await page.evaluate("document.cookie = 'session=abc'")
                for (number, site) in ["127.0.0.1", "example.org"].enumerated() {
                    let name = ["one.bin", "two.bin"][number]
                    try await popup.evaluate("chrome.storage.local.set({ settings: { cookieSites: ['\(site)'] } })")
                    try await page.click("#link-\(number)")
                    try await popup.wait(
                        "document.querySelector('#downloads [data-state=finished] .name')?.textContent === '\(name)'")
                    for request in bench.origin.log.of("/\(name)").dropFirst() {
                        #expect(request.request.header("Cookie") == (number == 0 ? "session=abc" : nil))
                    }
                }
            }
        }

        @Test func `without the service a download stays with the browser, and the popup says so`() async throws {
            try await PageBench.with(hasExtensions: true) { bench in
                let url = bench.origin.serve("/kept.bin", Payload(seed: 1, length: 3 << 20)) {
                    $0.contentType = "application/octet-stream"
                }
                let popup = try await popup(bench)
                let page = try await links(bench, "/kept.bin")
                await bench.stopService()
                try await page.click("#link-0")
                try await untilComplete(url, in: popup)
                try await popup.wait("document.querySelector('.notice')?.textContent.includes('Pawl does not respond')")
                try await popup.wait("document.querySelector('#problem').textContent.includes('pawl serve')")
            }
        }

        @Test func `a link pairs once, and other text is refused`() async throws {
            try await PageBench.with(hasExtensions: true) { bench in
                let link = try #require(try await bench.call("pawl.web")["url"]?.string)
                let popup = try await popup(bench)
                for (text, answer) in [(link, "summary"), (link, "used before"), (bench.base, "not a one-time link")] {
                    try await popup.evaluate("chrome.storage.local.remove('access').then(() => location.reload())")
                    try await popup.wait("document.activeElement?.id === 'link'")
                    try await popup.type(text)
                    try await popup.click("#pairing button")
                    if answer == "summary" {
                        try await popup.wait("document.querySelector('#summary').textContent !== ''")
                    } else {
                        try await popup.wait("document.querySelector('#problem').textContent.includes('\(answer)')")
                    }
                }
            }
        }

        @Test func `the rules decide by type, size, site and sameness`() async throws {
            try await PageBench.with(hasExtensions: true) { bench in
                let popup = try await popup(bench)
                let failed = try await popup.evaluate(
                    """
                    import("./rules.js").then(({ usual, isWanted, differenceOf, refererOf, siteOf, cookieField, parseLink, typeOf, wordsOf }) => {
                      const wanted = (item, change = {}) => isWanted({ url: "https://h.org/a.iso", totalBytes: 5e6, ...item }, { ...usual, ...change });
                      const checks = {
                        large: wanted({}), small: !wanted({ totalBytes: 1000 }), unknown: !wanted({ totalBytes: -1 }), off: !wanted({}, { isOn: false }),
                        type: wanted({ totalBytes: -1 }, { types: ["iso"] }), otherType: !wanted({}, { types: ["zip"] }), never: !wanted({}, { otherTypes: ["iso"] }),
                        name: !wanted({ url: "https://h.org/get?id=1", filename: "/tmp/b.PDF" }, { otherTypes: ["pdf"] }),
                        site: !wanted({}, { otherSites: ["h.org"] }), below: !wanted({ url: "https://dl.h.org/a" }, { otherSites: ["h.org"] }),
                        beside: wanted({ url: "https://xh.org/a" }, { otherSites: ["h.org"] }), blob: !wanted({ url: "blob:https://h.org/1" }),
                        data: !wanted({ url: "data:,x" }), private_: !wanted({ incognito: true }), own: !wanted({ byExtensionId: "x" }), over: !wanted({ state: "complete" }),
                        same: differenceOf({ totalBytes: 5 }, { total: 5, type: "application/zip" }) === null,
                        unknownTotal: differenceOf({ totalBytes: 5 }, { total: null, type: null }) === null,
                        longer: differenceOf({ totalBytes: 5 }, { total: 6 }) === "different",
                        page: differenceOf({ totalBytes: -1, mime: "application/zip" }, { total: null, type: "text/html; charset=utf-8" }) === "different",
                        wantedPage: differenceOf({ mime: "text/html" }, { type: "text/html" }) === null,
                        refused: differenceOf({}, { error: { message: "403" } }) === "refused",
                        own_: refererOf("https://u:p@h.org/a?b#c", "https://h.org/d") === "https://h.org/a?b",
                        cross: refererOf("https://h.org/a?b", "https://x.org/d") === "https://h.org/", down: refererOf("https://h.org/a", "http://h.org/d") === null,
                        siteOfPage: siteOf("https://dl.example.co.uk/f", "https://www.example.co.uk/p") === "example.co.uk",
                        siteOfOther: siteOf("https://cdn.net/f", "https://example.org/p") === "cdn.net",
                        cookie: cookieField([{ name: "a", value: "1" }, { name: "", value: "x" }, { name: "b", value: "1\\r\\nX: y" }, { name: "c", value: "1;2" }]) === "Cookie: a=1; x",
                        noCookie: cookieField([]) === null,
                        link: JSON.stringify(parseLink(" http://[::1]:6800/#code=0af ")) === '{"origin":"http://[::1]:6800","code":"0af"}',
                        noLink: parseLink("http://h/#add=x") === null && parseLink("javascript:1#code=0a") === null && parseLink("") === null,
                        typeOfName: typeOf("a.tar.GZ") === "gz" && typeOf(".profile") === "" && typeOf("C:\\\\d\\\\x.zip") === "zip",
                        words: wordsOf(" .ISO, *.zip\\niso ").join() === "iso,zip",
                      };
                      return Object.entries(checks).filter(([, isRight]) => !isRight).map(([name]) => name);
                    })
                    """)
                #expect(failed == [])
            }
        }

        @Test func `the settings are kept, and consent can be revoked`() async throws {
            try await PageBench.with(hasExtensions: true) { bench in
                let popup = try await popup(bench)
                try await popup.evaluate("chrome.storage.local.set({ settings: { cookieSites: ['example.org'] } })")
                try await popup.evaluate("location.href = 'options.html'")
                try await popup.wait("document.querySelector('#address')?.textContent.includes('\(bench.base)')")
                #expect(try await popup.problems() == [])
                try await popup.fill("#least", "5")
                try await popup.fill("#types", "ISO, .zip")
                try await popup.click("#rules .primary")
                try await popup.wait("document.querySelector('#saved').textContent === 'Saved.'")
                try await popup.click("#sites button")
                try await popup.wait("document.querySelector('#sites').childElementCount === 0")
                let kept = try await popup.evaluate(
                    "chrome.storage.local.get('settings').then(({ settings }) => settings)")
                #expect(kept["leastSize"] == .number(5 << 20) && kept["types"] == ["iso", "zip"])
                #expect(kept["cookieSites"] == [])
                try await popup.click("#unpair")
                try await popup.wait("document.querySelector('#unpair').hidden")
                #expect(
                    try await popup.evaluate("chrome.storage.local.get('access').then(({ access }) => access ?? null)")
                        == .null)
            }
        }
    }
}
