import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Accessibility by axe-core, texts that fit, and what a page load requests.
    @Suite struct PageAccessTests {
        /// A row of every kind: running for hours, retrying, queued, paused, finished, failed for three reasons.
        private func fill(_ bench: PageBench) async throws {
            try await bench.addPaused(2)
            bench.origin.serve("/long.iso", Payload(seed: 1, length: 700 << 20)) { $0.pace = 90_000 }
            bench.origin.serve("/busy.iso", Payload(seed: 2, length: 10)) {
                $0.instead = .status(503, retryAfter: "3000")
            }
            bench.origin.serve("/done.bin", Payload(seed: 3, length: 3 << 20))
            for (name, status) in [("gone.bin", 404), ("secret.bin", 401)] {
                bench.origin.serve("/\(name)", Payload([])) { $0.instead = .status(status) }
            }
            for name in ["long.iso", "done.bin", "gone.bin", "secret.bin"] {
                _ = try await bench.manager.add(bench.origin.url("/\(name)"))
            }
            // The host is busy for all others from then on.
            try await bench.untilState("secret.bin", .failed)
            try await bench.untilState("done.bin", .finished)
            _ = try await bench.manager.add(bench.origin.url("/busy.iso"))
        }

        private func untilFilled(_ page: BrowserPage, _ waiting: String) async throws {
            try await page.wait("\(PageBench.text(of: "long.iso", ".cell-left")) !== ''")
            try await page.wait("\(PageBench.text(of: "busy.iso", ".cell-state")).includes('\(waiting)')")
        }

        @Test(arguments: [false, true], [(name: "en-US", waiting: "Retrying in"), (name: "zh-CN", waiting: "后重试")])
        func `axe finds no violation on any screen`(
            isDark: Bool, language: (name: String, waiting: String)
        ) async throws {
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 4
            } _: { bench in
                try await fill(bench)
                var look = BrowserPage.Look(isDark: isDark, language: language.name)
                let login = try await BrowserPage(bench.browser, look)
                try await login.open(bench.base)
                try await login.wait("document.activeElement?.id === 'secret'")
                #expect(try await login.violations() == [])
                try await login.close()
                let page = try await bench.page(look)
                try await untilFilled(page, language.waiting)
                #expect(try await page.violations() == [])
                try await page.contextMenu(of: "file-0.bin")
                #expect(try await page.violations() == [], "context menu")
                try await page.press("Escape")
                try await checkDialogs(of: page, "desktop")
                for name in ["secret.bin", "long.iso"] {
                    try await page.evaluate("\(PageBench.row(name)).querySelector('.info').click()")
                    try await page.wait("document.querySelector('.detail-title').textContent === '\(name)'")
                    try await page.evaluate("document.querySelector('.technical').open = true")
                    let found = try await page.violations()
                    #expect(found == [], "details of \(name)")
                }
                try await page.press("Escape")
                (look.width, look.height, look.isPhone) = (390, 780, true)
                try await page.show(look)
                try await checkDialogs(of: page, "phone")
                try await page.click(".choosing")
                #expect(try await page.violations() == [], "phone")
            }
        }

        private func checkDialogs(of page: BrowserPage, _ device: String) async throws {
            for (key, opened) in [
                ("n", ".adding"), ("e", ".editing"), (",", ".service-settings"), ("l", ".bounds"), ("m", ".menu"),
                ("?", ".help"),
            ] {
                try await page.focusList()
                try await page.press(key)
                try await page.wait("document.querySelector('\(opened)')")
                try await page.evaluate(
                    "document.querySelectorAll('dialog details').forEach((more) => (more.open = true))")
                #expect(try await page.violations() == [], "\(device), after \(key)")
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
            }
        }

        @Test(arguments: [
            ("en-US", "Retrying in"), ("zh-CN", "后重试"), ("de-DE", "Erneut in"), ("es-ES", "Reintento:"),
            ("fr-FR", "Réessai :"), ("ja-JP", "後に再試行"), ("pt-BR", "Tenta em"),
        ]) func `no text is clipped at any width`(
            language: String, waiting: String
        ) async throws {
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 4
            } _: { bench in
                try await fill(bench)
                var look = BrowserPage.Look(width: 1440, height: 900, language: language)
                let page = try await bench.page(look)
                try await untilFilled(page, waiting)
                for width in [1440, 1280, 1100, 820, 390, 320] {
                    (look.width, look.isPhone) = (width, width < 700)
                    try await page.show(look)
                    try await page.wait("innerWidth === \(width)")
                    let listed = try await page.clippedTexts()
                    #expect(listed == [], "the list at \(width)")
                    #expect(try await page.evaluate("document.documentElement.scrollWidth") == .number(width))
                    for (key, opened) in [
                        ("m", ".menu"), ("l", ".bounds"), (",", ".service-settings"), ("n", ".adding"),
                    ] {
                        try await page.focusList()
                        try await page.press(key)
                        try await page.wait("document.querySelector('\(opened)')")
                        let clipped = try await page.clippedTexts()
                        #expect(clipped == [], "\(opened) at \(width)")
                        try await page.press("Escape")
                        try await page.wait("!document.querySelector('dialog')")
                    }
                    try await page.evaluate("\(PageBench.row("secret.bin")).querySelector('.info').click()")
                    try await page.wait("document.querySelector('.detail-help:not([hidden])')")
                    let clipped = try await page.clippedTexts()
                    #expect(clipped == [], "the details at \(width)")
                    try await page.focusList()
                    try await page.press("Escape")
                    try await page.wait("document.querySelector('#detail').hidden")
                }
            }
        }

        @Test func `the first row needs the document and one connection, the rest comes later`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let page = try await bench.page()
                try await page.call("Network.setCacheDisabled", ["cacheDisabled": .bool(true)])
                // What is requested after the document gets no response.
                let blocked = ["page-*", "*.js", "*.css", "session"].map { JSON.string("*/\($0)") }
                try await page.call("Network.setBlockedURLs", ["urls": .array(blocked)])
                try await page.call("Page.reload")
                try await page.wait(PageBench.isShown("file-0.bin"))
                let document = "performance.getEntriesByType('navigation')[0].transferSize"
                #expect(try #require(try await page.evaluate(document).integer) < 49_000)
                #expect(try await page.evaluate("document.fonts.status") == "loaded")

                try await page.call("Network.setBlockedURLs", ["urls": []])
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                let names = """
                    performance.getEntriesByType('resource').filter(({ name }) => name.startsWith(location.origin))
                      .map(({ name }) => new URL(name).pathname)
                    """
                let found = Set(try await page.evaluate(names).array ?? [])
                #expect(Set(["/icon.svg", "/pawl.webmanifest", "/page-later.js"]).isSuperset(of: found))
                let size =
                    "performance.getEntriesByType('resource').reduce((sum, { transferSize }) => sum + transferSize, 0)"
                #expect(try #require(try await page.evaluate(size).integer) < 26_500)
            }
        }

        @Test func `rows are shown while a long list still arrives`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(30)
                let page = try await bench.page()
                let found = try await page.evaluate(
                    """
                    import("/queue.js").then(({ Queue }) => {
                      const queue = new Queue();
                      const row = (id) => ({ id, url: "http://h/" + id, state: "paused", toggle: "continue", position: 1 });
                      const counts = [];
                      const take = (news) => (queue.take(news), counts.push(queue.rows.size));
                      take({ all: true, status: {} });
                      take({ rows: [row("a")] });
                      take({ rows: [row("b")] });
                      take({ ready: true });
                      // After a lost connection the previous rows stay until everything is there.
                      take({ all: true, status: {} });
                      take({ rows: [row("c")] });
                      take({ ready: true });
                      return counts.join();
                    })
                    """)
                #expect(found == "0,1,2,2,2,2,1")
                try await page.wait("document.querySelector('#grid').getAttribute('aria-rowcount') === '31'")
            }
        }
    }
}
