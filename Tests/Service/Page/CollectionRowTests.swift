import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// A collection in the list of a real browser.
    @Suite struct CollectionRowTests {
        @Test func `a collection is one row that opens, and is paused, resumed and removed`() async throws {
            try await PageBench.with { bench in
                let links = ["a.bin", "b.bin", "c.bin"].map { "<a href=\"\($0)\">\($0)</a>" }.joined()
                let index = Payload(text: "<title>Index of /films/</title><h1>Index of /films/</h1>\(links)")
                let url = bench.origin.serve("/films/", index) { $0.contentType = "text/html" }
                let payload = Payload(seed: 45, length: 300_000)
                for name in ["a.bin", "b.bin", "c.bin"] {
                    _ = bench.origin.serve("/films/\(name)", payload) {
                        if name != "a.bin" { $0.delay = .untilReleased }
                    }
                }
                let page = try await bench.page()
                _ = try await bench.call("pawl.add", [[["url": .string(url), "listing": [:]]]])
                // The list shows the collection alone: its files are inside.
                let note = PageBench.text(of: "films", ".row-note")
                try await page.wait("\(PageBench.isShown("films")) && \(note).startsWith('1 of 3 files')")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 1")
                let opened = "\(PageBench.row("films")).getAttribute('aria-expanded')"
                #expect(try await page.evaluate(opened) == .string("false"))
                try await page.click(".row .info")
                try await page.wait(
                    "\(opened) === 'true' && \(PageBench.isShown("b.bin")) && \(PageBench.isShown("c.bin"))")
                try await page.evaluate("[...document.querySelectorAll('.row.is-member')].length === 2")
                // Enter closes it.
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 1")

                try await page.click(".row .toggle")
                try await page.wait("\(PageBench.text(of: "films", ".cell-state")) === 'Paused'")
                try await page.click(".row .toggle")
                try await page.wait("\(PageBench.row("films")).dataset.part === 'running'")
                for name in ["b.bin", "c.bin"] { bench.origin.adjust("/films/\(name)") { $0.delay = .none } }
                for name in ["b.bin", "c.bin"] { bench.origin.release("/films/\(name)") }
                try await page.wait("\(PageBench.text(of: "films", ".cell-state")) === 'Finished'")
                try await page.wait("\(note).startsWith('3 of 3 files')")
                for name in ["a.bin", "b.bin", "c.bin"] {
                    #expect(bench.difference("films/\(name)", from: payload) == nil)
                }
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Delete")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                #expect(bench.difference("films/a.bin", from: payload) == nil)
            }
        }
    }
}
