import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// The displayed rows, their order, and the selection.
    @Suite struct ChoosingTests {
        private static let shown =
            "[...document.querySelectorAll('.row:not([hidden])')].sort((one, other) => "
            + "one.getBoundingClientRect().top - other.getBoundingClientRect().top)"
        private static let names =
            "\(shown).map((row) => row.querySelector('.row-name').textContent.split('.')[0]).join()"
        private static let chosen =
            "\(shown).filter((row) => row.ariaSelected === 'true')"
            + ".map((row) => row.querySelector('.row-name').textContent.split('.')[0]).join()"

        /// Three finished ones, of 3, 2 and 1 thousand bytes, two of them in groups; and a paused one.
        private func fill(_ bench: PageBench) async throws {
            for (number, name) in ["alpha", "gamma", "beta"].enumerated() {
                let payload = Payload(seed: UInt64(number), length: Int64(3 - number) * 1000)
                var request = DownloadRequest(bench.origin.serve("/\(name).bin", payload))
                request.group = ["one", "other", nil][number]
                let download = try await bench.manager.add(request)
                _ = try await download.file
            }
            var request = DownloadRequest(bench.origin.url("/delta.bin"))
            request.start = .paused
            request.group = "one"
            _ = try await bench.manager.add(request)
        }

        @Test func `a press on a filter counts although its number changes meanwhile`() async throws {
            try await PageBench.with { bench in
                try await fill(bench)
                let page = try await bench.page()
                let count = "document.querySelector('[data-filter=paused] .filter-count').textContent"
                try await page.wait("\(count) === '1'")
                try await page.click("[data-filter=paused]") {
                    try await bench.addPaused(2)
                    try await page.wait("\(count) === '3'")
                }
                try await page.wait("document.querySelector('[data-filter=paused]').ariaPressed === 'true'")
                #expect(try await page.evaluate("document.activeElement.dataset.filter") == "paused")
            }
        }

        @Test func `what is added at once is shown, however much it is`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                // More than a listener of the queue's events is told one by one.
                try await bench.addPaused(DownloadManager.Configuration().eventBuffer * 2)
                try await page.wait(
                    "document.querySelector('[data-filter=all] .filter-count').textContent === '2,000'")
            }
        }

        @Test func `the list is sorted with the keyboard`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(2)
                let page = try await bench.page(BrowserPage.Look(width: 1440))
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.focusList()
                let focused = "document.activeElement.closest('.head')?.dataset.order"
                for (key, order) in [
                    ("Tab", "name"), ("ArrowRight", "progress"), ("End", "timeLeft"), ("Home", "name"),
                    ("ArrowLeft", "name"),
                ] {
                    try await page.press(key)
                    #expect(try await page.evaluate(focused) == .string(order), "\(key)")
                }
                let direction = "document.querySelector('.head[aria-sort]')?.ariaSort ?? ''"
                for expected in ["ascending", "descending", ""] {
                    try await page.press("Enter")
                    #expect(try await page.evaluate(direction) == .string(expected))
                }
            }
        }

        @Test func `what leaves the list is no longer selected`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                bench.origin.serve("/file-0.bin", Payload(seed: 1, length: 10))
                let page = try await bench.page()
                let rows = "document.querySelectorAll('.row:not([hidden])').length"
                try await page.wait("\(rows) === 3")
                try await page.focusList()
                try await page.press("4")
                try await page.wait("\(rows) === 3")
                try await page.press("a", modifiers: 2)
                let count = "document.querySelector('.chosen-count').textContent"
                try await page.wait("\(count) === '3 selected'")
                let first = try #require(try await bench.manager.download(ofURL: bench.origin.url("/file-0.bin")))
                _ = try await bench.manager.resume(first.id)
                try await page.wait("\(count) === '2 selected'")
                try await page.press("Delete")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                try await page.press("1")
                try await page.wait(PageBench.isShown("file-0.bin"))
                #expect(try await page.evaluate("document.querySelectorAll('.row:not([hidden])').length") == .number(1))
            }
        }

        @Test func `a press acts on the row where it began, also if the rows move before it ends`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let page = try await bench.page()
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.click(".head.cell-name button")
                bench.origin.serve("/file-0.bin", Payload(seed: 1, length: 10))
                var request = DownloadRequest(bench.origin.serve("/earlier.bin", Payload(seed: 2, length: 10)))
                request.start = .paused
                let earlier = request
                try await page.click(".row[aria-rowindex='2'] .toggle") {
                    _ = try await bench.manager.add(earlier)
                    try await page.wait("\(PageBench.row("file-0.bin")).ariaRowIndex === '3'")
                }
                try await bench.untilState("file-0.bin", .finished)
                #expect(try await bench.manager.download(ofURL: earlier.source)?.snapshot.state == .paused)
            }
        }

        @Test func `the list is sorted by its heads, and filtered by state, group and text`() async throws {
            try await PageBench.with { bench in
                try await fill(bench)
                let page = try await bench.page()
                try await page.wait("\(Self.names).startsWith('delta,')")
                for (column, order) in [
                    ("name", "alpha,beta,delta,gamma"), ("name", "gamma,delta,beta,alpha"),
                    ("size", "alpha,gamma,beta,delta"),
                    // Without a size, last in both directions.
                    ("size", "beta,gamma,alpha,delta"), ("name", "alpha,beta,delta,gamma"),
                    ("size", "alpha,gamma,beta,delta"),
                ] {
                    try await page.click(".head.cell-\(column) button")
                    try await page.wait("\(Self.names) === '\(order)'")
                }
                #expect(try await page.evaluate("document.querySelector('.head.cell-size').ariaSort") == "descending")
                try await page.click("[data-filter=paused]")
                try await page.wait("\(Self.names) === 'delta'")
                try await page.click("[data-filter=group-one]")
                try await page.wait("\(Self.names) === 'alpha,delta'")
                // A state is one of all downloads again.
                try await page.press("5")
                try await page.wait("\(Self.names) === 'alpha,gamma,beta'")
                try await page.press("/")
                try await page.type("AMM")
                try await page.wait("\(Self.names) === 'gamma'")
                // Enter leaves the field with its value, Escape clears it.
                try await page.press("Enter")
                try await page.press("/")
                #expect(try await page.evaluate("document.querySelector('#search').value") == "AMM")
                try await page.press("Escape")
                try await page.wait("\(Self.names) === 'alpha,gamma,beta'")
                // Every word is in the name or the URL, in any order.
                try await page.type("bin alp")
                try await page.wait("\(Self.names) === 'alpha'")
                try await page.type("x")
                try await page.click("#empty button")
                try await page.wait("\(Self.names) === 'alpha,gamma,beta,delta'")
            }
        }

        @Test func `rows are selected with shift and control, by mouse and by keys`() async throws {
            try await PageBench.with { bench in
                try await fill(bench)
                let page = try await bench.page()
                try await page.click(".head.cell-name button")
                try await page.wait("\(Self.names) === 'alpha,beta,delta,gamma'")
                let row = { (name: String) in
                    "#row-\(try await page.evaluate("\(PageBench.row(name)).dataset.id").string ?? "") .row-name"
                }
                try await page.click(try await row("alpha.bin"))
                try await page.wait("\(Self.chosen) === 'alpha'")
                try await page.click(try await row("delta.bin"), modifiers: 8)
                try await page.wait("\(Self.chosen) === 'alpha,beta,delta'")
                try await page.click(try await row("beta.bin"), modifiers: 2)
                try await page.wait("\(Self.chosen) === 'alpha,delta'")
                #expect(try await page.evaluate("document.querySelector('.chosen-count').textContent") == "2 selected")
                try await page.press("Home")
                try await page.press("ArrowDown", modifiers: 8)
                try await page.wait("\(Self.chosen) === 'alpha,beta'")
                try await page.press("a", modifiers: 2)
                try await page.wait("\(Self.chosen) === 'alpha,beta,delta,gamma'")
                // The first closes the menu that a press opens on devices without hover.
                try await page.press("Escape")
                try await page.press("Escape")
                try await page.wait("\(Self.chosen) === ''")
            }
        }

        @Test func `a group is paused and resumed as a whole, and so is everything`() async throws {
            try await PageBench.with { bench in
                for (name, group) in [("one", "films"), ("two", "films"), ("three", nil)] {
                    let url = bench.origin.serve("/\(name).bin", Payload(seed: 2, length: 1 << 20)) {
                        $0.delay = .untilReleased
                    }
                    var request = DownloadRequest(url)
                    request.group = group
                    _ = try await bench.manager.add(request)
                }
                let page = try await bench.page()
                let states =
                    "['one', 'two', 'three'].map((name) => [...document.querySelectorAll('.row:not([hidden])')]"
                    + ".find((row) => row.querySelector('.row-name').textContent === name + '.bin')"
                    + "?.querySelector('.cell-state').textContent).join()"
                try await page.wait("\(states) === 'Connecting,Connecting,Connecting'")
                try await page.click("[data-filter=group-films]")
                try await page.wait("document.querySelector('#whole').textContent === 'Pause films'")
                try await page.click("#whole")
                try await page.wait("document.querySelector('#whole').textContent === 'Resume films'")
                try await page.press("1")
                try await page.wait("\(states) === 'Group paused,Group paused,Connecting'")
                try await page.wait("document.querySelector('#whole').textContent === 'Pause all'")
                try await page.press("p")
                try await page.wait("\(states).endsWith('Paused')")
                try await page.wait("document.querySelector('#whole').textContent === 'Resume all'")
                try await page.press("p")
                try await page.wait("\(states) === 'Connecting,Connecting,Connecting'")
                try await page.click("[data-filter=group-films]")
                try await page.press("p")
                try await page.wait("document.querySelector('#whole').textContent === 'Resume films'")
                try await page.press("p")
                try await page.wait("document.querySelector('#whole').textContent === 'Pause films'")
            }
        }
    }
}
