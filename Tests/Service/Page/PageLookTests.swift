import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// Many rows, small screens, other languages, accessibility.
    @Suite struct PageLookTests {
        @Test func `of 5000 rows only the visible ones exist, at any scroll position`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(5000)
                let page = try await bench.page()
                try await page.wait("document.querySelector('#grid').getAttribute('aria-rowcount') === '5001'")
                // Each step is given a frame, as a wheel's would be.
                let most = try await page.evaluate(
                    """
                    (async () => {
                      const grid = document.querySelector("#grid");
                      let most = 0;
                      for (let top = 0; top < grid.scrollHeight; top += grid.scrollHeight / 100) {
                        grid.scrollTop = top;
                        await new Promise(requestAnimationFrame);
                        most = Math.max(most, document.querySelectorAll(".row").length);
                      }
                      return most;
                    })()
                    """)
                #expect(try #require(most.integer) < 60)
                try await page.focusList()
                try await page.press("End")
                try await page.wait(PageBench.isShown("file-4999.bin"))
                try await page.press("/")
                try await page.type("file-2345")
                try await page.wait("document.querySelector('#grid').getAttribute('aria-rowcount') === '2'")
            }
        }

        @Test func `it is in Chinese for readers of Chinese, and in English for others`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let chinese = try await bench.page(BrowserPage.Look(language: "zh-CN"))
                try await chinese.wait("\(PageBench.text(of: "file-0.bin", ".cell-state")) === '已暂停'")
                #expect(try await chinese.evaluate("document.documentElement.lang") == "zh-Hans")
                let english = try await bench.page(BrowserPage.Look(language: "nl-NL"))
                try await english.wait("\(PageBench.text(of: "file-0.bin", ".cell-state")) === 'Paused'")
                // A choice persists, and applies immediately.
                try await english.press("m")
                try await english.wait("document.querySelector('input[name=language][value=zh]')")
                try await english.evaluate("document.querySelector('input[name=language][value=zh]').click()")
                try await english.wait("\(PageBench.text(of: "file-0.bin", ".cell-state")) === '已暂停'")
                try await english.call("Page.reload")
                try await english.wait("\(PageBench.text(of: "file-0.bin", ".cell-state")) === '已暂停'")
            }
        }

        @Test(arguments: [
            ("en-US", "The server returned 404 Not Found; check the URL"), ("zh-CN", "文件不存在（服务器应答 404）；请检查地址"),
            ("de-AT", "Datei nicht gefunden (der Server antwortete 404); URL prüfen"),
            ("es-MX", "Archivo no encontrado (el servidor respondió 404); compruebe la URL"),
            ("fr-CA", "Fichier introuvable (le serveur a répondu 404) ; vérifiez l’URL"),
            ("ja-JP", "ファイルがありません（サーバーの応答：404）。URL を確認してください"),
            ("pt-BR", "Arquivo não encontrado (o servidor respondeu 404); verifique a URL"),
        ]) func `a failure is shown in the reader's language, also by the next service`(
            language: String, reason: String
        ) async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/gone.bin", Payload([])) { $0.instead = .status(404) }
                _ = try await bench.manager.add(url)
                let page = try await bench.page(BrowserPage.Look(language: language))
                let note = PageBench.text(of: "gone.bin", ".row-note")
                try await page.wait("\(note) === '\(reason)'")
                await bench.stopService()
                try await page.wait("document.querySelector('.banner:not([hidden])')")
                // The next service's text is distinguished by the added part.
                try await bench.startService()
                try await bench.addPaused(1)
                try await page.click(".banner-button")
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.wait("\(note) === '\(reason)'")
            }
        }

        @Test func `all languages have the same texts`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let missing = try await page.evaluate(
                    """
                    Promise.all([import("/words.js"), import("/languages.js")]).then(async ([{ words, textsIn }, { endonyms }]) => {
                      const names = (words, path) => Object.entries(words).flatMap(([name, word]) =>
                        typeof word === "object" ? names(word, path + name + ".") : path + name + ":" + typeof word);
                      const one = names(words, "");
                      const missing = Object.keys(endonyms).length === 7 ? [] : ["a language"];
                      for (const language of Object.keys(endonyms).filter((name) => name !== "en")) {
                        const other = names(await textsIn(language), "");
                        missing.push(...one.filter((name) => !other.includes(name)), ...other.filter((name) => !one.includes(name)));
                      }
                      return missing;
                    })
                    """)
                #expect(missing == [])
            }
        }

        @Test(arguments: [720, 860, 1024, 1280]) func `names keep their room beside the time left`(
            width: Int
        ) async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let page = try await bench.page(BrowserPage.Look(width: width, height: 740))
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.wait("document.querySelector('.row-name').clientWidth >= 220")
                let columns = try await page.evaluate("document.querySelector('.grid').dataset.columns")
                #expect(columns.string?.contains("left") == true && columns.string?.contains("progress") == true)
            }
        }

        @Test func `a part of the queue has the columns that its downloads can fill`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/gone.bin", Payload([])) { $0.instead = .status(404) }
                _ = try await bench.manager.add(url)
                let page = try await bench.page(BrowserPage.Look(width: 1440, height: 740))
                try await page.wait("\(PageBench.text(of: "gone.bin", ".cell-state")) === 'Failed'")
                let columns = "document.querySelector('.grid').dataset.columns"
                #expect(try await page.evaluate(columns) == "progress state size speed left")
                try await page.press("6")
                try await page.wait("\(columns) === 'progress size added'")
            }
        }

        @Test func `on a phone nothing is wider than the screen, and a tap opens the details`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(40)
                let page = try await bench.page(BrowserPage.Look(width: 360, height: 740, isPhone: true))
                try await page.wait(PageBench.isShown("file-0.bin"))
                #expect(try await page.evaluate("document.documentElement.scrollWidth") == .number(360))
                #expect(try await page.evaluate("document.querySelector('#grid').scrollWidth <= 360") == .bool(true))
                let small = try await page.evaluate(
                    """
                    [...document.querySelectorAll(".top button, .tools button, .row:not([hidden]) button, .filter")]
                      .filter((button) => button.checkVisibility() && button.getBoundingClientRect().height < 44).map((button) => button.outerHTML)
                    """)
                #expect(small == [])
                try await page.click(".row .row-name")
                try await page.wait("document.querySelector('.detail-title')?.textContent.startsWith('file-')")
                try await page.press("Escape")
                try await page.wait("document.querySelector('#detail').hidden")
            }
        }

        @Test func `on a phone the search among finished downloads keeps its word`() async throws {
            try await PageBench.with { bench in
                let done = bench.origin.serve("/done.bin", Payload(seed: 2, length: 1000))
                _ = try await bench.manager.add(done)
                let page = try await bench.page(BrowserPage.Look(width: 390, height: 740, isPhone: true))
                try await page.wait(PageBench.isShown("done.bin"))
                try await page.evaluate(
                    "[...document.querySelectorAll('.filter')].find((it) => it.textContent.startsWith('Finished')).click()"
                )
                try await page.wait("document.querySelector('#clear').checkVisibility()")
                #expect(
                    try await page.evaluate("document.querySelector('.search input').clientWidth >= 110") == .bool(true)
                )
            }
        }

        @Test(arguments: [false, true]) func `everything has a name, and every text has enough contrast`(
            isDark: Bool
        ) async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                let url = bench.origin.serve("/gone.bin", Payload(seed: 1, length: 10)) { $0.instead = .status(404) }
                _ = try await bench.manager.add(url)
                let done = bench.origin.serve("/done.bin", Payload(seed: 2, length: 1000))
                _ = try await bench.manager.add(done)
                let page = try await bench.page(BrowserPage.Look(isDark: isDark))
                try await page.wait("\(PageBench.text(of: "gone.bin", ".cell-state")) === 'Failed'")
                try await page.wait("\(PageBench.text(of: "done.bin", ".cell-state")) === 'Finished'")
                #expect(try await page.problems() == [])
                for (key, opened) in [
                    ("Enter", ".facts"), ("?", ".help"), ("n", ".adding"), ("l", ".bounds"), ("m", ".menu"),
                ] {
                    try await page.focusList()
                    try await page.press("Home")
                    try await page.press(key)
                    try await page.wait("document.querySelector('\(opened)')")
                    #expect(try await page.problems() == [], "after \(key)")
                    if key != "Enter" { try await page.press("Escape") }
                    try await page.wait("!document.querySelector('dialog')")
                }
            }
        }
    }
}
