import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Settings of the service and of the page, and the whole queue.
    @Suite struct SettingsTests {
        @Test func `settings of the service apply to later downloads, also of the next service`() async throws {
            try await PageBench.with {
                $0.hooks.programs[.complete] = "/usr/bin/true"
            } _: { bench in
                let page = try await bench.page()
                try await page.focusList()
                try await page.press(",")
                try await page.wait(
                    "document.querySelector('.service-settings .facts dd')?.textContent === '/usr/bin/true'")
                for (field, value) in [
                    ("set-folder", "new"), ("set-connections", "3"), ("set-retries", "9"), ("set-each", "1M"),
                    ("set-proxy", "socks5://127.0.0.1:9"), ("set-agent", "Test/2"),
                ] { try await page.fill("#\(field)", value) }
                try await page.click(".dialog .primary")
                try await page.wait("!document.querySelector('dialog')")
                await bench.stopService()
                try await bench.startService()
                _ = try await bench.call(
                    "pawl.add",
                    [
                        [
                            [
                                "url": .string(bench.origin.url("/a.bin")), "start": "paused",
                                "options": ["connections": "5"],
                            ]
                        ]
                    ])
                let id = try #require(try await bench.manager.downloads().first?.id)
                let found = try await bench.manager.details(of: [id])
                let options = try #require(found.first).options
                #expect(options.folder == "new")
                #expect(options.connections == 5)
                #expect(options.retries == 9)
                #expect(options.rateLimit == 1 << 20)
                #expect(options.proxy == "socks5://127.0.0.1:9")
                #expect(options.userAgent == "Test/2")
            }
        }

        @Test func `a refused setting is reported below its field`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await page.focusList()
                try await page.press(",")
                try await page.fill("#set-folder", "../outside")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#set-folder-problem').textContent.includes('not inside')")
                #expect(try await page.evaluate("document.activeElement.id") == "set-folder")
                try await page.fill("#set-folder", String(repeating: "x", count: 256))
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#set-folder-problem').textContent.includes('255 bytes')")
                try await page.fill("#set-folder", "")
                try await page.fill("#set-agent", "a\u{7}b")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('#set-agent-problem').textContent.includes('control character')")
                #expect(try await page.evaluate("document.activeElement.id") == "set-agent")
                try await page.fill("#set-agent", "")
                for (field, value, problem) in [
                    ("set-retries", "1000001", "from 0 to 1000000"), ("set-timeout", "86401", "from 1 to 86400"),
                    ("bounds-rate", "99999999999G", "Invalid speed limit"),
                ] {
                    try await page.fill("#\(field)", value)
                    try await page.click(".dialog .primary")
                    try await page.wait(
                        "document.querySelector('#\(field)-problem').textContent.includes('\(problem)')")
                    try await page.fill("#\(field)", "")
                }
                try await page.fill("#bounds-times", "always")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#bounds-times-problem').textContent !== ''")
            }
        }

        @Test func `a refused setting is reported in Chinese`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page(BrowserPage.Look(language: "zh-CN"))
                try await page.focusList()
                try await page.press(",")
                try await page.fill("#set-agent", "a\u{7}b")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('#set-agent-problem').textContent === '选项或地址无效（其中含有换行符或其他控制字符）'")
            }
        }

        @Test func `a limit that is set and removed at once is removed`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                for limit in ["1M", "", "2M", ""] {
                    try await page.focusList()
                    try await page.press(",")
                    try await page.fill("#bounds-rate", limit)
                    try await page.click(".dialog .primary")
                    try await page.wait("!document.querySelector('dialog')")
                    let expected: Int64? = ["1M": 1 << 20, "2M": 2 << 20][limit]
                    #expect(try await bench.manager.limits().rateLimit == expected, "\(limit)")
                }
            }
        }

        @Test func `a schedule is painted on the week, and its text read back`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let texts = try await page.evaluate(
                    """
                    import("/schedule.js").then(({ cellsOf, textOf }) =>
                      ["Mon-Fri 08:00-18:00 1M, else none", "22:00-06:00 500K", "Sat-Mon 00:00-24:00 2M, else 1G", "08:30-09:00 1M", "nonsense"]
                        .map((text) => cellsOf(text)).map((found) => found && `${textOf(found.cells)}|${found.isExact}`))
                    """)
                #expect(
                    texts == [
                        "Mon-Fri 08:00-18:00 1M, else none|true", "00:00-06:00 500K, 22:00-24:00 500K, else none|true",
                        "Mon 00:00-24:00 2M, Tue-Fri 00:00-24:00 1G, Sat-Sun 00:00-24:00 2M, else none|true",
                        "08:00-09:00 1M, else none|false", .null,
                    ])
                try await page.focusList()
                try await page.press(",")
                try await page.fill("#schedule-rate", "fast")
                try await page.evaluate("document.querySelector('[data-cell=\"32\"]').focus()")
                try await page.press("Enter")
                try await page.wait("document.querySelector('#schedule-rate-problem').textContent !== ''")
                #expect(try await page.evaluate("document.querySelector('#bounds-times').value") == "")
                try await page.fill("#schedule-rate", "750K")
                // Tuesday, 8 to 10.
                for cell in [32, 33] {
                    try await page.evaluate("document.querySelector('[data-cell=\"\(cell)\"]').focus()")
                    try await page.press("Enter")
                }
                try await page.wait(
                    "document.querySelector('#bounds-times').value === 'Tue 08:00-10:00 750K, else none'")
                #expect(
                    try await page.evaluate("document.querySelector('[data-cell=\"33\"]').ariaLabel")
                        == "Tue 09:00: 750 KiB/s")
                try await page.click(".dialog .primary")
                try await page.wait("!document.querySelector('dialog')")
                #expect(try await bench.manager.limits().timetable == "Tue 08:00-10:00 750K, else none")
            }
        }

        @Test func `compact rows fit 25 times into 900 pixels, and columns are chosen`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(60)
                let page = try await bench.page(BrowserPage.Look(width: 1600, height: 900))
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.press("m")
                try await page.wait("document.querySelector('input[name=density][value=compact]')")
                try await page.evaluate("document.querySelector('input[name=density][value=compact]').click()")
                try await page.press("Escape")
                let whole =
                    "[...document.querySelectorAll('.row:not([hidden])')].filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length"
                try await page.wait("\(whole) >= 25")
                #expect(try await page.clippedTexts() == [])
                let isShown = "document.querySelector('.head.cell-added').checkVisibility()"
                #expect(try await page.evaluate(isShown) == .bool(true))
                try await page.press("m")
                try await page.click("[data-menu=columns]")
                try await page.click(".popup [data-command=added]")
                try await page.wait("!\(isShown)")
                try await page.call("Page.reload")
                try await page.wait(PageBench.isShown("file-0.bin"))
                #expect(try await page.evaluate(isShown) == .bool(false))
                #expect(try await page.evaluate("document.documentElement.dataset.density") == "compact")
            }
        }

        @Test func `the menu of columns says which have no room, and each part of the queue has its own`() async throws
        {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let page = try await bench.page(BrowserPage.Look(width: 1000, height: 740))
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.press("m")
                try await page.click("[data-menu=columns]")
                try await page.wait("document.querySelector('.popup [data-command=added]')")
                let texts =
                    "[...document.querySelectorAll('.popup-item')].map((one) => [one.dataset.command, one.ariaChecked, one.textContent])"
                for item in try await page.evaluate(texts).array ?? [] {
                    let parts = item.array?.compactMap(\.string) ?? []
                    let isShown = try await page.evaluate(
                        "document.querySelector('.head.cell-\(parts[0])').checkVisibility()")
                    #expect(
                        (isShown == .bool(true)) == (parts[1] == "true" && !parts[2].hasSuffix("(no room)")), "\(parts)"
                    )
                }
                #expect(try await page.evaluate(texts).text.contains("(no room)"))
                try await page.press("Escape")
                try await page.press("4")
                try await page.press("m")
                try await page.click("[data-menu=columns]")
                try await page.click(".popup [data-command=size]")
                try await page.wait("!document.querySelector('.head.cell-size').checkVisibility()")
                try await page.press("1")
                try await page.wait("document.querySelector('.head.cell-size').checkVisibility()")
            }
        }

        @Test func `the queue is exported, and imported by another service`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(2)
                let first = try #require(try await bench.manager.downloads().first?.id)
                _ = try await bench.call(
                    "pawl.set",
                    [.string(first.description), ["options": ["user": "me", "password": "word"], "group": "films"]])
                let exported = try await bench.call("pawl.export")
                for download in try await bench.manager.downloads() { try await bench.manager.remove(download.id) }
                let page = try await bench.page()
                try await page.press("m")
                try await page.wait("document.querySelector('input[type=file]')")
                try await page.evaluate(
                    """
                    (() => {
                      const input = document.querySelector("input[type=file]");
                      const data = new DataTransfer();
                      data.items.add(new File([\(JSON.string(exported.text).text)], "pawl-queue.json"));
                      input.files = data.files;
                      input.dispatchEvent(new Event("change"));
                    })()
                    """)
                try await page.wait("document.querySelector('.toast').textContent.includes('Imported 2 downloads')")
                // What the page adds never uses the secrets of the service's owner.
                let expected = try #require(exported.array).map { item in
                    JSON.object([JSON.Member("ownersSecrets", .bool(false))] + (item.members ?? []))
                }
                #expect(try await bench.call("pawl.export") == .array(expected))
                let downloads = try await bench.manager.downloads()
                let found = try await bench.manager.details(of: downloads.map(\.id))
                #expect(found.map(\.options.password).contains("word"))
                #expect(Set(downloads.map(\.state)) == [.paused])
            }
        }

        @Test func `a page that is loaded again shows the speed of before`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 8 << 20)) { $0.pace = 300_000 }
                // With more of them the file would be there at once.
                var request = DownloadRequest(url)
                request.options.connections = 1
                _ = try await bench.manager.add(request)
                let page = try await bench.page()
                try await page.wait("document.querySelector('#gauge-speed').textContent.endsWith('KiB/s')")
                try await page.press("l")
                let peak = "/peak [1-9]/.test(document.querySelector('.bounds .chart').ariaLabel)"
                try await page.wait(peak)
                for download in try await bench.manager.downloads() { _ = try await bench.manager.pause(download.id) }
                try await page.wait("document.querySelector('#gauge-speed').textContent === '0 B/s'")
                try await page.call("Page.reload")
                try await page.wait(PageBench.isShown("film.bin"))
                try await page.press("l")
                try await page.wait(peak)
            }
        }

        @Test func `details that are opened after a reload show the speed of before`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 8 << 20)) {
                    $0.pace = 300_000
                    $0.cut = .stall(after: 900_000)
                }
                var request = DownloadRequest(url)
                request.options.connections = 1
                let id = try await bench.manager.add(request).id.description
                let page = try await bench.page()
                let chart = "document.querySelector('.detail .chart')?.nextElementSibling.textContent"
                try await page.wait(PageBench.isShown("film.bin"))
                try await page.evaluate("\(PageBench.row("film.bin")).querySelector('.info').click()")
                try await page.wait("/at most [1-9]/.test(\(chart))")
                // Nothing arrives any more: all that is shown then was recorded before.
                try await page.wait("/^Now 0 B/.test(\(chart))")
                try await page.call("Page.reload")
                try await page.wait(PageBench.isShown("film.bin"))
                try await page.evaluate("\(PageBench.row("film.bin")).querySelector('.info').click()")
                try await page.wait("/^Now 0 B.* at most [1-9]/.test(\(chart))")
                _ = try await bench.call("pawl.pause", [.string(id)])
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Paused'")
                // Nothing is kept of a download that does not run.
                while try await bench.call("pawl.speeds", [.string(id)]) != [] {}
            }
        }

        @Test func `permission for notifications is requested on a press, and sent when a download ends`() async throws
        {
            try await PageBench.with { bench in
                bench.origin.serve("/film.bin", Payload(seed: 1, length: 1 << 20)) { $0.delay = .untilReleased }
                _ = try await bench.manager.add(bench.origin.url("/film.bin"))
                let page = try await bench.page()
                // What the browser would show, without its user.
                try await page.evaluate(
                    """
                    (() => {
                      window.requests = 0;
                      window.shown = [];
                      window.Notification = class {
                        static permission = "default";
                        static async requestPermission() { requests += 1; return (this.permission = "granted"); }
                        constructor(title) { shown.push(title); }
                        close() {}
                      };
                      document.hasFocus = () => false;
                    })()
                    """)
                try await page.press("m")
                try await page.wait("document.querySelector('#notify')")
                #expect(try await page.evaluate("requests") == .number(0))
                try await page.evaluate("document.querySelector('#notify').click()")
                try await page.wait("requests === 1 && document.querySelector('#notify').checked")
                bench.origin.release("/film.bin")
                try await page.wait("shown.join() === 'Finished: film.bin'")
            }
        }
    }
}
