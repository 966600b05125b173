import Pawl
import PawlCore
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Drag and drop onto the page.
    @Suite struct IntakeTests {
        @Test func `a dropped link is added, and started at once if that is selected`() async throws {
            try await PageBench.with {
                $0.manager.slots = 1
            } _: { bench in
                for name in ["first", "dropped"] {
                    bench.origin.serve("/\(name).bin", Payload(seed: 1, length: 1 << 20)) {
                        $0.delay = .untilReleased
                    }
                }
                _ = try await bench.manager.add(bench.origin.url("/first.bin"))
                let page = try await bench.page()
                try await page.wait("\(PageBench.text(of: "first.bin", ".cell-state")) === 'Connecting'")
                let url = bench.origin.url("/dropped.bin")
                try await page.drop([["mimeType": "text/uri-list", "data": .string(url)]])
                try await page.wait("document.querySelector('#add-urls').value === '\(url)'")
                #expect(try await page.evaluate("document.querySelector('#landing').hidden") == .bool(true))
                try await page.evaluate("document.querySelector('.dialog input[value=now]').click()")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "dropped.bin", ".cell-state")) === 'Connecting'")
                try await page.wait("\(PageBench.text(of: "first.bin", ".cell-state")) === 'Queued'")
            }
        }

        @Test func `dropped text files yield all their URLs, each once`() async throws {
            try await PageBench.with { bench in
                let urls = (0..<3).map { bench.origin.url("/part-\($0).bin") }
                let files = try TemporaryFolder()
                let list = files.path("list.txt")
                try FileSystem.write(
                    Array("# lectures\n\(urls[0])\n\n<\(urls[1])>, \(urls[0])\n".utf8),
                    to: list
                )
                let more = files.path("more.txt")
                try FileSystem.write(Array("and \(urls[2]).".utf8), to: more)
                let page = try await bench.page()
                try await page.drop(files: [list])
                let value = "document.querySelector('#add-urls').value"
                try await page.wait("\(value).split('\\n').join() === '\(urls[0]),\(urls[1])'")
                // Links dropped while it is open are appended.
                try await page.drop(files: [more])
                try await page.wait("\(value).split('\\n').join() === '\(urls.joined(separator: ","))'")
                try await page.wait("document.querySelectorAll('dialog').length === 1")
                try await page.evaluate("document.querySelector('.dialog input[value=paused]').click()")
                try await page.click(".dialog .primary")
                for number in 0..<3 { try await page.wait(PageBench.isShown("part-\(number).bin")) }
                #expect(try await bench.manager.downloads().map(\.state) == [.paused, .paused, .paused])
            }
        }

        @Test func `a drop without URLs is refused with a message`() async throws {
            try await PageBench.with { bench in
                let files = try TemporaryFolder()
                try FileSystem.write(Array("nothing in it".utf8), to: files.path("notes.txt"))
                let page = try await bench.page()
                try await page.drop(files: [files.path("notes.txt")])
                try await page.wait(
                    "document.querySelector('.toast.is-error').textContent.startsWith('No URL found')"
                )
                #expect(try await page.evaluate("document.querySelector('dialog')") == .null)
            }
        }

        @Test func `an invalid file name is reported in the dialog`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page(BrowserPage.Look(language: "zh-CN"))
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.type(bench.origin.url("/a.bin"))
                try await page.evaluate("document.querySelector('#add-name').value = 'a/b'")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('.dialog .problem:not(:empty)').textContent.includes('选项或地址无效')"
                )
                #expect(try await page.evaluate("document.querySelector('.toast.is-error')") == .null)
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }

        @Test func `rejected downloads stay in the dialog with the reason, and the rest is added`()
            async throws
        {
            try await PageBench.with { bench in
                let page = try await bench.page(BrowserPage.Look(language: "zh-CN"))
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.type("\(bench.origin.url("/good.bin"))\nhttps://host:99999/bad.bin")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('.dialog .problem:not(:empty)').textContent.includes('选项或地址无效')"
                )
                try await page.wait(
                    "document.querySelector('#add-urls').value.trim() === 'https://host:99999/bad.bin'"
                )
                try await page.wait(PageBench.isShown("good.bin"))
            }
        }
    }
}

extension BrowserPage {
    /// Drops data or files on the middle of the page, as a drag from outside does.
    func drop(_ items: JSON = [], files: [String] = []) async throws {
        for type in ["dragEnter", "dragOver", "drop"] {
            try await call(
                "Input.dispatchDragEvent",
                [
                    "type": .string(type), "x": .number(600), "y": .number(500),
                    "data": [
                        "items": items, "files": .array(files.map { .string($0) }),
                        "dragOperationsMask": .number(1),
                    ],
                ]
            )
        }
    }
}
