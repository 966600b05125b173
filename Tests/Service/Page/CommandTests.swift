import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// Menus, selection, order, and the browser's Back.
    @Suite struct CommandTests {
        private func addFinished(_ bench: PageBench, _ name: String) async throws {
            let url = bench.origin.serve("/\(name)", Payload(seed: 1, length: 2000))
            _ = try await bench.manager.add(url).file
        }

        @Test func `a context menu has the commands that fit, with their names`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(2)
                try await addFinished(bench, "done.bin")
                let page = try await bench.page()
                let items = "[...document.querySelectorAll('.popup-item')].map((item) => item.dataset.command).join()"
                try await page.contextMenu(of: "done.bin")
                #expect(try await page.evaluate(items) == "details,open,save,check,rename,copyURL,remove,removeFile")
                #expect(
                    try await page.evaluate("document.activeElement.textContent").string?.hasPrefix("Details") == true)
                try await page.press("Escape")
                try await page.wait("!document.querySelector('.popup')")
                try await page.contextMenu(of: "file-0.bin")
                #expect(
                    try await page.evaluate(items).string?.hasPrefix(
                        "details,resume,force,edit,rename,replaceURL,copyURL,first") == true)
                try await page.press("ArrowDown")
                try await page.press("ArrowDown")
                try await page.press("End")
                #expect(try await page.evaluate("document.activeElement.dataset.command") == "remove")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.toast-action')")
                try await page.wait("!(\(PageBench.isShown("file-0.bin")))")
            }
        }

        @Test func `Check now asks for a comparison and says what was compared; Repair fetches a wrong file again`()
            async throws
        {
            try await PageBench.with { bench in
                let content = Payload(seed: 2, length: 2000)
                let sum = Hexadecimal.text(MessageDigest5.digest(content.bytes(in: ByteRange(0, 2000))))
                var request = DownloadRequest(bench.origin.serve("/done.bin", content))
                request.options.checksum = "md5=\(sum)"
                let id = try await bench.manager.add([request])[0].get()
                _ = try await bench.manager.download(withID: id)?.file
                let page = try await bench.page()
                try await page.wait(PageBench.isShown("done.bin"))
                _ = try await page.evaluate(
                    """
                    window.sent = []; const send = WebSocket.prototype.send;
                    WebSocket.prototype.send = function (data) { window.sent.push(data); send.call(this, data); }; 1
                    """)
                let calls = { (method: String) in
                    """
                    window.sent.filter((text) => text.includes('"\(method)"') && text.includes('"\(id)"')).length
                    """
                }
                let check: () async throws -> Void = {
                    try await page.contextMenu(of: "done.bin")
                    try await page.click(".popup [data-command=check]")
                }
                try await check()
                try await page.wait(
                    """
                    [...document.querySelectorAll('.toast-text')].some((toast) =>
                        toast.textContent === 'done.bin is correct, compared with md5 (by the given checksum)')
                    """)
                #expect(try await page.evaluate(calls("pawl.verify")).integer == 1)
                try FileSystem.write(Array("wrong".utf8), to: bench.root + "/done.bin")
                try await check()
                try await page.wait(
                    """
                    document.querySelector('.toast.is-error .toast-text')?.textContent
                        === 'done.bin is wrong, compared with md5 (by the given checksum)'
                    """)
                #expect(try await page.evaluate(calls("pawl.repair")).integer == 0)
                try await page.click(".toast.is-error .toast-action")
                try await page.wait("\(calls("pawl.repair")) === 1")
                let path = bench.root + "/done.bin"
                for await _ in try #require(await bench.manager.download(withID: id)).updates
                where FileSystem.difference(of: path, from: content) == nil { break }
            }
        }

        @Test func `removal is one button with a choice, and keeps the file by default`() async throws {
            try await PageBench.with { bench in
                try await addFinished(bench, "done.bin")
                let page = try await bench.page()
                try await page.click(".row .row-name")
                try await page.click("#toolbar [data-action=removeMenu]")
                let texts = "[...document.querySelectorAll('.popup-text')].map((item) => item.textContent).join()"
                #expect(try await page.evaluate(texts) == "Remove, keep file,Remove and delete file")
                try await page.click(".popup [data-command=remove]")
                try await page.wait("document.querySelector('.toast-action')")
                await bench.stopService()
                #expect(FileSystem.names(in: bench.root).contains("done.bin"))
            }
        }

        @Test func `a third press on a head returns to the queue, where alone rows can be moved`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                let page = try await bench.page()
                let sort = "document.querySelector('.head.cell-name').ariaSort"
                try await page.wait(PageBench.isShown("file-2.bin"))
                try await page.click(".head.cell-name button")
                #expect(try await page.evaluate(sort) == "ascending")
                try await page.click(".head.cell-name button")
                #expect(try await page.evaluate(sort) == "descending")
                try await page.drag(row: "file-0.bin", before: "file-2.bin")
                try await page.wait("document.querySelector('.toast').textContent.includes('in queue order')")
                #expect(try await bench.manager.downloads().map(\.source).first?.hasSuffix("file-0.bin") == true)
                for key in ["ArrowUp", "Home"] {
                    try await page.evaluate("document.querySelectorAll('.toast').forEach((toast) => toast.remove())")
                    try await page.focusList()
                    try await page.press(key == "Home" ? "Home" : "End")
                    try await page.press(key, modifiers: 1)
                    try await page.wait("document.querySelector('.toast').textContent.includes('in queue order')")
                }
                #expect(
                    try await bench.manager.waiting().map { String($0.source.suffix(10)) }
                        == (0..<3).map { "file-\($0).bin" })
                try await page.click(".head.cell-name button")
                #expect(try await page.evaluate(sort) == .null)
                try await page.drag(row: "file-2.bin", before: "file-0.bin")
                let first =
                    "[...document.querySelectorAll('.row:not([hidden])')].find((row) => row.ariaRowIndex === '2')"
                try await page.wait("\(first).querySelector('.row-name').textContent === 'file-2.bin'")
            }
        }

        @Test func `on a phone Back closes the details, menus and dialogs, and leaves the page only then`() async throws
        {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                let page = try await bench.page(BrowserPage.Look(width: 390, height: 780, isPhone: true))
                try await page.click(".row .row-name")
                try await page.wait("document.querySelector('.detail-title')")
                try await page.click("#detail [data-action=more]")
                try await page.wait("document.querySelector('.popup')")
                try await page.evaluate("history.back()")
                try await page.wait("!document.querySelector('.popup')")
                #expect(try await page.evaluate("document.querySelector('#detail').hidden") == .bool(false))
                try await page.evaluate("history.back()")
                try await page.wait("document.querySelector('#detail').hidden")
                try await page.click("#menu-button")
                try await page.wait("document.querySelector('dialog')")
                try await page.evaluate("history.back()")
                try await page.wait("!document.querySelector('dialog')")
                // What was closed otherwise leaves nothing behind in the history.
                try await page.click("#menu-button")
                try await page.press("Escape")
                try await page.wait("!history.state?.layers")
                #expect(try await page.evaluate("document.documentElement.dataset.view") == "list")
                // Each layer has an entry of its own, and they go together with what is below.
                try await page.click(".row .row-name")
                try await page.click("#detail [data-action=more]")
                try await page.wait("history.state.layers === 2")
                try await page.click("#detail header button")
                try await page.wait("document.querySelector('#detail').hidden && !history.state?.layers")
                // A page that is loaded again shows the details that its URL names, and Back closes them.
                try await page.click(".row .row-name")
                try await page.wait("history.state.layers === 1 && location.hash.includes('download=')")
                try await page.call("Page.reload")
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.wait("history.state?.layers === 1 && document.querySelector('.detail-title')")
                try await page.evaluate("history.back()")
                try await page.wait("!history.state?.layers && document.querySelector('#detail').hidden")
            }
        }

        @Test func `several are chosen by ticks, with their number and an end`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                let page = try await bench.page(BrowserPage.Look(width: 390, height: 780, isPhone: true))
                try await page.click(".row .row-name")
                try await page.wait("document.querySelector('.detail-title')")
                try await page.evaluate("history.back()")
                try await page.wait("document.querySelector('#detail').hidden")
                try await page.click(".choosing")
                let count = "document.querySelector('.chosen-count').textContent"
                #expect(try await page.evaluate(count) == "0 selected")
                try await page.click(".row .row-name")
                try await page.wait("\(count) === '1 selected'")
                #expect(
                    try await page.evaluate(
                        "getComputedStyle(document.querySelector('[aria-selected=true] .tick')).display") == "grid")
                #expect(try await page.evaluate("document.querySelector('.choosing').textContent") == "Done")
                try await page.click(".choosing")
                try await page.wait("\(count) === ''")
                // Back ends it too, and leaves the page only then.
                try await page.wait("!history.state?.layers")
                try await page.click(".choosing")
                try await page.click(".row .row-name")
                try await page.wait("\(count) === '1 selected'")
                try await page.evaluate("history.back()")
                try await page.wait("\(count) === ''")
                #expect(try await page.evaluate("document.documentElement.dataset.view") == "list")
                #expect(try await page.evaluate("document.body.classList.contains('is-choosing')") == .bool(false))
            }
        }

        @Test func `removing an unfinished download says what is discarded, and asks`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/film.bin", Payload(seed: 1, length: 4 << 20)) {
                    $0.cut = .stall(at: 2 << 20)
                }
                let page = try await bench.page()
                try await addFinished(bench, "done.bin")
                var request = DownloadRequest(url)
                request.options.connections = 1
                let download = try await bench.manager.add(request)
                try await page.wait("\(PageBench.text(of: "film.bin", ".cell-size")) === '2.00 MiB of 4.00 MiB'")
                let texts =
                    "[...document.querySelectorAll('[data-command^=remove] .popup-text')].map((item) => item.textContent).join()"
                try await page.contextMenu(of: "film.bin")
                #expect(try await page.evaluate(texts) == "Remove and discard 2.00 MiB received")
                try await page.click("[data-command=remove]")
                try await page.wait("document.querySelector('.question p').textContent.includes('2.00 MiB')")
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
                try await page.press("a", modifiers: 2)
                try await page.contextMenu(of: "film.bin")
                #expect(
                    try await page.evaluate(texts)
                        == "Remove, keep finished files, discard 2.00 MiB received,Remove and delete file")
                try await page.press("Escape")
                #expect(FileSystem.names(in: bench.root).contains("film.bin.part"))
                #expect(download.snapshot.state != .removed)
            }
        }

        @Test func `a file that is another one by now stays, and the page says so`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await addFinished(bench, "a.bin")
                try await page.wait(PageBench.isShown("a.bin"))
                FileSystem.remove(bench.root + "/a.bin")
                try FileSystem.write([1, 2, 3], to: bench.root + "/a.bin")
                let id = try #require(try await bench.manager.downloads().first).id
                _ = try await bench.call(
                    "pawl.remove", [.string(id.description), ["keepFile": .bool(false), "grace": .number(1)]])
                try await page.wait("document.querySelector('.toast.is-error')?.textContent.includes('a.bin')")
                #expect(FileSystem.names(in: bench.root).contains("a.bin"))
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }

        @Test func `finished downloads are cleared at once, and their files stay`() async throws {
            try await PageBench.with { bench in
                for name in ["a.bin", "b.bin"] { try await addFinished(bench, name) }
                try await bench.addPaused(1)
                let page = try await bench.page()
                try await page.click("[data-filter=finished]")
                try await page.wait("\(PageBench.text(of: "a.bin", ".cell-mean")).endsWith('/s')")
                try await page.wait("\(PageBench.text(of: "a.bin", ".cell-ended")) !== ''")
                try await page.click("#clear")
                try await page.wait("document.querySelectorAll('.row:not([hidden])').length === 0")
                try await page.wait("document.querySelector('.toast').textContent.includes('Removed 2 downloads')")
                await bench.stopService()
                #expect(
                    FileSystem.names(in: bench.root).filter { $0.hasSuffix(".bin") }.sorted() == ["a.bin", "b.bin"])
            }
        }
    }
}
