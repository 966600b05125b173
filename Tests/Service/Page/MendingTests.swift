import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// Actions on one existing download.
    @Suite struct MendingTests {
        @Test func `all failed downloads are retried at once`() async throws {
            try await PageBench.with { bench in
                for name in ["one.bin", "two.bin"] {
                    bench.origin.serve("/\(name)", Payload([])) { $0.instead = .status(404) }
                    _ = try await bench.manager.add(bench.origin.url("/\(name)"))
                    try await bench.untilState(name, .failed)
                }
                let page = try await bench.page()
                try await page.press("6")
                try await page.wait("document.querySelector('#clear').textContent === 'Retry all'")
                for (seed, name) in ["one.bin", "two.bin"].enumerated() {
                    bench.origin.serve("/\(name)", Payload(seed: UInt64(seed), length: 5_000))
                }
                try await page.click("#clear")
                for name in ["one.bin", "two.bin"] { try await bench.untilState(name, .finished) }
                try await page.press("5")
                try await page.wait("document.querySelector('#clear').textContent === 'Clear finished'")
                try await page.press("1")
                try await page.wait("document.querySelector('#clear').hidden")
            }
        }

        @Test(arguments: [1280, 390]) func `the remedy stands at the reason`(width: Int) async throws {
            try await PageBench.with { bench in
                bench.origin.serve("/gone.bin", Payload([])) { $0.instead = .status(404) }
                _ = try await bench.manager.add(bench.origin.url("/gone.bin"))
                let page = try await bench.page(BrowserPage.Look(width: width, height: 740, isPhone: width < 700))
                try await page.wait("\(PageBench.text(of: "gone.bin", ".remedy")) === 'Replace URL…'")
                let distance = try await page.evaluate(
                    """
                    (() => {
                      const [reason, remedy] = [\(width < 700 ? "'.row-brief'" : "'.row-note'"), ".remedy"].map((one) => document.querySelector(one).getBoundingClientRect());
                      return Math.round(Math.min(Math.abs(remedy.left - reason.right), Math.abs(remedy.top - reason.bottom)));
                    })()
                    """)
                #expect(try #require(distance.integer) <= 12)
            }
        }

        @Test func `A8 an expired URL is replaced, and the download continues with its bytes`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 1, length: 3 << 20)
                let old = bench.origin.serve("/signed.bin", payload) { $0.cut = .close(after: 1 << 20) }
                bench.origin.vary("/signed.bin") { facts, behaviour in
                    if facts.hasRange { behaviour.instead = .status(403) }
                }
                var request = DownloadRequest(old)
                request.options.connections = 1
                let page = try await bench.page()
                _ = try await bench.manager.add(request)
                try await page.wait("\(PageBench.text(of: "signed.bin", ".cell-state")) === 'Failed'")
                let new = bench.origin.serve("/renewed/signed.bin", payload)
                try await page.focusList()
                try await page.press("Home")
                try await page.press("u")
                try await page.wait("document.querySelector('#input').type === 'url'")
                try await page.type(new)
                try await page.press("Enter")
                try await page.wait("!document.querySelector('dialog')")
                try await page.wait("\(PageBench.text(of: "signed.bin", ".cell-state")) === 'Finished'")
                #expect(bench.difference("signed.bin", from: payload) == nil)
                #expect(bench.origin.log.of("/renewed/signed.bin").allSatisfy { $0.hasRange })
            }
        }

        @Test func `a failed one is retried`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 2, length: 50_000)
                let url = bench.origin.serve("/late.bin", payload) { $0.instead = .status(404) }
                let page = try await bench.page()
                _ = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "late.bin", ".cell-state")) === 'Failed'")
                try await page.wait("\(PageBench.text(of: "late.bin", ".row-note")).includes('404 Not Found')")
                bench.origin.adjust("/late.bin") { $0.instead = nil }
                try await page.focusList()
                try await page.press("Home")
                try await page.click("#toolbar [data-action=retry]")
                try await page.wait("\(PageBench.text(of: "late.bin", ".cell-state")) === 'Finished'")
                #expect(bench.difference("late.bin", from: payload) == nil)
            }
        }

        @Test func `a URL is copied in full, and a finished file is opened or saved`() async throws {
            try await PageBench.with { bench in
                bench.origin.serve("/notes.txt", Payload(text: "some notes"))
                let url = bench.origin.url("/notes.txt?token=whole")
                let page = try await bench.page()
                try await page.allowClipboard(bench.base)
                let download = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "notes.txt", ".cell-state")) === 'Finished'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("c", modifiers: 2)
                try await page.wait("document.querySelector('.toast')?.textContent === 'Copied 1 URL'")
                #expect(try await page.evaluate("navigator.clipboard.readText()") == .string(url))

                try await page.evaluate("(window.opened = [], window.open = (...given) => void opened.push(given))")
                try await page.press("o")
                try await page.click("#toolbar [data-action=more]")
                try await page.click(".popup [data-command=save]")
                let files = "/files/\(download.id)"
                try await page.wait("opened.join(' ') === '\(files),_blank,noopener \(files)?save,_blank,noopener'")
                let output = try await page.evaluate(
                    "Promise.all(opened.map(([path]) => fetch(path).then(async (response) => "
                        + "response.headers.get('content-disposition').split(';')[0] + ':' + await response.text())))")
                #expect(output == ["inline:some notes", "attachment:some notes"])
            }
        }

        @Test func `D14 a removed download leaves its file on request, and is gone when the undo time is over`()
            async throws
        {
            try await PageBench.with { bench in
                let payload = Payload(seed: 3, length: 40_000)
                let page = try await bench.page()
                let download = try await bench.manager.add(bench.origin.serve("/kept.bin", payload))
                try await page.wait("\(PageBench.text(of: "kept.bin", ".cell-state")) === 'Finished'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Delete")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                // Another page removes it for good; undo comes too late, which is reported.
                _ = try await bench.call("pawl.restore", [.string(download.id.description)])
                _ = try await bench.call("pawl.remove", [.string(download.id.description), ["keepFile": .bool(true)]])
                try await page.press("z", modifiers: 2)
                try await page.wait("document.querySelector('.toast.is-error')?.textContent.includes('Too late')")
                #expect(bench.difference("kept.bin", from: payload) == nil)
                #expect(try await bench.manager.downloads().isEmpty)
                // Without undo it is removed at once.
                try await bench.addPaused(1)
                let id = try #require(try await bench.manager.downloads().first).id.description
                _ = try await bench.call("pawl.remove", [.string(id), ["grace": .number(0)]])
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }
    }
}

extension BrowserPage {
    func allowClipboard(_ origin: String) async throws {
        try await call(
            "Browser.grantPermissions",
            [
                "origin": .string(origin), "browserContextId": .string(context),
                "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
            ])
    }
}
