import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Downloads seen and controlled in a real browser.
    @Suite struct SteeringTests {
        @Test func `a pasted URL is added, progresses, is paused and resumed`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 4 << 20)) { $0.pace = 200_000 }
                let page = try await bench.page()
                try await page.evaluate(
                    """
                    (() => {
                      const data = new DataTransfer();
                      data.setData("text/plain", "look at \(url), it is good");
                      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
                    })()
                    """)
                try await page.wait("document.querySelector('#add-urls').value === '\(url)'")
                try await page.click(".dialog .primary")
                let percent = "parseFloat(\(PageBench.text(of: "film.bin", ".percent")))"
                try await page.wait("\(percent) > 0")
                // It updates automatically, without polling by the test.
                try await page.evaluate("window.before = \(percent)")
                try await page.wait("\(percent) > before")

                try await page.click(".row .toggle")
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Paused'")
                try await page.wait("document.querySelector('.row .toggle').dataset.toggle === 'continue'")
                bench.origin.adjust("/film.bin") { $0.pace = nil }
                try await page.click(".row .toggle")
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Finished'")
                #expect(try await page.evaluate("document.querySelector('.row .toggle').disabled") == .bool(true))
                #expect(bench.difference("film.bin", from: Payload(seed: 1, length: 4 << 20)) == nil)
            }
        }

        @Test func `D8 a key starts one now, which preempts another`() async throws {
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 1
            } _: { bench in
                let page = try await bench.page()
                for name in ["one", "two"] {
                    let url = bench.origin.serve("/\(name).bin", Payload(seed: 2, length: 1 << 20)) {
                        $0.delay = .untilReleased
                    }
                    _ = try await bench.manager.add(url)
                }
                try await page.wait("\(PageBench.text(of: "one.bin", ".cell-state")) === 'Connecting'")
                try await page.wait("\(PageBench.text(of: "two.bin", ".cell-state")) === 'Queued'")
                try await page.focusList()
                try await page.press("End")
                try await page.press("f")
                try await page.wait("\(PageBench.text(of: "two.bin", ".cell-state")) === 'Connecting'")
                try await page.wait("\(PageBench.text(of: "one.bin", ".cell-state")) === 'Queued'")
            }
        }

        @Test func `D15 a new name is entered, and the file has it`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/old.bin", Payload(seed: 3, length: 70_000))
                _ = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "old.bin", ".cell-state")) === 'Finished'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("F2")
                try await page.wait("document.querySelector('#input').selectionEnd === 3")
                try await page.type("new")
                try await page.press("Enter")
                try await page.wait("\(PageBench.text(of: "new.bin", ".cell-state")) === 'Finished'")
                #expect(bench.difference("new.bin", from: Payload(seed: 3, length: 70_000)) == nil)
            }
        }

        @Test func `a name that is taken is refused in the dialog, which keeps the text`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                for name in ["one.bin", "two.bin"] {
                    let url = bench.origin.serve("/\(name)", Payload(seed: 3, length: 7_000))
                    _ = try await bench.manager.add(url)
                    try await page.wait("\(PageBench.text(of: name, ".cell-state")) === 'Finished'")
                }
                try await page.contextMenu(of: "one.bin")
                try await page.click("[data-command=rename]")
                let problem = "document.querySelector('#input-problem').textContent"
                for (name, expected) in [
                    ("", "Enter a value."), ("two.bin", "A file of that name exists. Choose another name."),
                    ("a/b", "Not a file name: use 1 to 255 bytes without a slash."),
                ] {
                    try await page.fill("#input", name)
                    try await page.press("Enter")
                    try await page.wait("\(problem) === '\(expected)'")
                    #expect(try await page.evaluate("document.querySelector('#input').value") == .string(name))
                }
                try await page.fill("#input", "three.bin")
                try await page.press("Enter")
                try await page.wait("!document.querySelector('dialog')")
                try await page.wait(PageBench.isShown("three.bin"))
            }
        }

        @Test func `a download that waits for its next attempt is tried at once`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let payload = Payload(seed: 9, length: 70_000)
                let url = bench.origin.serve("/busy.bin", payload) { $0.instead = .status(503, retryAfter: "3000") }
                _ = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "busy.bin", ".cell-state")).startsWith('Retrying in ')")
                try await page.wait(
                    "\(PageBench.text(of: "busy.bin", ".row-note")).includes('503 Service Unavailable')")
                let state = "\(PageBench.row("busy.bin")).querySelector('.cell-state').title"
                try await page.wait("\(state).endsWith('(503, 1 of 5)')")
                try await page.focusList()
                try await page.press("Home")
                let button = "document.querySelector('#toolbar [data-action=tryNow]')"
                try await page.wait("!\(button).hidden")
                bench.origin.adjust("/busy.bin") { $0.instead = nil }
                try await page.click("#toolbar [data-action=tryNow]")
                try await page.wait("\(PageBench.text(of: "busy.bin", ".cell-state")) === 'Finished'")
                try await page.wait("\(button).hidden")
                #expect(bench.difference("busy.bin", from: payload) == nil)
            }
        }

        @Test func `a removal is undone, and the next one is not`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/film.bin", Payload(seed: 4, length: 8 << 20)) { $0.pace = 100_000 }
                let download = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Downloading'")
                try await page.focusList()
                try await page.press("Home")
                // What was received is discarded only after a question.
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-size")).includes(' of ')")
                try await page.press("Delete")
                try await page.wait("document.querySelector('.question p').textContent.includes('film.bin')")
                try await page.press("Enter")
                try await page.wait("!document.querySelector('dialog')")
                #expect(try await page.evaluate("document.querySelectorAll('.toast').length") == .number(0))
                try await page.focusList()
                try await page.press("Delete")
                try await page.click(".question .primary")
                try await page.wait("document.querySelector('.toast-action')")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                try await page.click(".toast-action")
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-state")) === 'Downloading'")

                try await page.focusList()
                try await page.press("Home")
                try await page.press("Delete", modifiers: 8)
                try await page.click(".question .primary")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                // The service removes it even if it stops before the undo time is over.
                await bench.stopService()
                #expect(FileSystem.names(in: bench.root).filter { $0.hasPrefix("film") } == [])
                _ = download
            }
        }

        @Test func `rows are moved by keys and by dragging, and stay there`() async throws {
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 1
            } _: { bench in
                let page = try await bench.page()
                for name in ["a", "b", "c", "d"] {
                    let url = bench.origin.serve("/\(name).bin", Payload(seed: 5, length: 1 << 20)) {
                        $0.delay = .untilReleased
                    }
                    _ = try await bench.manager.add(url)
                }
                let order =
                    "[...document.querySelectorAll('.row:not([hidden])')].sort((one, other) => "
                    + "one.getBoundingClientRect().top - other.getBoundingClientRect().top)"
                    + ".map((row) => row.querySelector('.row-name').textContent[0]).join('')"
                try await page.wait("\(order) === 'abcd'")
                try await page.focusList()
                try await page.press("End")
                try await page.press("ArrowUp", modifiers: 1)
                try await page.wait("\(order) === 'abdc'")
                try await page.drag(row: "c.bin", before: "b.bin")
                try await page.wait("\(order) === 'acbd'")
                let line = try await bench.manager.waiting().map(\.source)
                #expect(line == ["c", "b", "d"].map { bench.origin.url("/\($0).bin") })
            }
        }

        @Test func `every option of the dialog reaches the download`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let url = bench.origin.serve("/x.bin", Payload(seed: 6, length: 1 << 20))
                try await page.focusList()
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                let values = [
                    "urls": url, "name": "named.bin", "folder": "films/new", "group": "films", "priority": "7",
                    "connections": "3", "limit": "1.5M", "headers": "X-One: 1", "mirrors": url + "?2", "user": "me",
                    "password": "word", "referer": "http://127.0.0.1/", "agent": "Test/1",
                    "checksum": "md5=00000000000000000000000000000000",
                ]
                for (name, value) in values {
                    try await page.evaluate(
                        """
                        (() => {
                          const field = document.querySelector("#add-\(name)");
                          field.value = \(JSON.string(value).text);
                          field.dispatchEvent(new Event("input", { bubbles: true }));
                        })()
                        """)
                }
                try await page.evaluate("document.querySelector('.dialog input[value=paused]').click()")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "named.bin", ".cell-state")) === 'Paused'")
                let downloads = try await bench.manager.downloads()
                let snapshot = try #require(downloads.first)
                let found = try await bench.manager.details(of: [snapshot.id])
                let details = try #require(found.first)
                #expect(snapshot.group == "films")
                #expect(snapshot.priority == 7)
                #expect(snapshot.folder == "films/new")
                #expect(details.sources == [url, url + "?2"])
                let options = details.options
                #expect(options.connections == 3)
                #expect(options.rateLimit == 1_572_864)
                #expect(options.headers == ["X-One: 1"])
                #expect(options.user == "me")
                #expect(options.password == "word")
                #expect(options.referer == "http://127.0.0.1/")
                #expect(options.userAgent == "Test/1")
                #expect(options.checksum == "md5=00000000000000000000000000000000")
            }
        }

        @Test func `limits and schedule are changed while downloads run`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await page.focusList()
                try await page.wait("/^[\\d.]+ .iB free$/.test(document.querySelector('#room').textContent)")
                try await page.press("l")
                try await page.wait("document.querySelector('#bounds-rate')")
                try await page.evaluate("document.querySelector('#bounds-rate').value = '750K'")
                try await page.evaluate("document.querySelector('#bounds-slots').value = '5'")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#gauge-note').textContent.includes('limit 750')")
                var bounds = try await bench.manager.limits()
                #expect(bounds.maximumConcurrentDownloads == 5)
                #expect(bounds.rateLimit == 768_000)
                #expect(bounds.timetable == nil)

                try await page.press(",")
                try await page.wait("document.querySelector('#bounds-rate').value === '750K'")
                try await page.fill("#bounds-times", "Mon-Sun 00:00-24:00 2M")
                try await page.click(".dialog .primary")
                try await page.wait("document.querySelector('#gauge-note').textContent.includes('limit 2')")
                bounds = try await bench.manager.limits()
                #expect(bounds.timetable == "Mon-Sun 00:00-24:00 2M")
            }
        }
    }
}
