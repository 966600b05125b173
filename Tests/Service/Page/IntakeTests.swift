import Pawl
import PawlBase
import PawlDisk
import PawlIntegrity
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Drag and drop onto the page.
    @Suite struct IntakeTests {
        @Test func `a dropped link is added, and started at once if that is selected`() async throws {
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 1
            } _: { bench in
                for name in ["first", "dropped"] {
                    bench.origin.serve("/\(name).bin", Payload(seed: 1, length: 1 << 20)) { $0.delay = .untilReleased }
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
                try FileSystem.write(Array("# lectures\n\(urls[0])\n\n<\(urls[1])>, \(urls[0])\n".utf8), to: list)
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

        @Test func `one URL that is pasted is checked at once, and a link of a page is not`() async throws {
            try await PageBench.with { bench in
                let urls = (0..<3).map { bench.origin.serve("/checked-\($0).bin", Payload(seed: 1, length: 5_000)) }
                let page = try await bench.page()
                // A change of what is shown, before the page hears of the link.
                let search = "document.querySelector('#search')"
                try await page.evaluate(
                    "location.hash = '#add=\(urls[0])'; \(search).value = 'x'; \(search).dispatchEvent(new Event('input'))"
                )
                try await page.wait("document.querySelector('#add-urls')?.value === '\(urls[0])'")
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
                try await page.paste(urls[1], into: "body")
                try await page.wait("document.querySelector('.checks')?.textContent.includes('4.88 KiB')")
                #expect(bench.origin.log.of("/checked-0.bin").isEmpty)
                // What the dialog asks for at first: the URL, the folder, and when it starts.
                let shown =
                    "[...document.querySelectorAll('dialog :is(input, textarea)')].filter((one) => one.checkVisibility()).map((one) => one.id || one.name).join()"
                #expect(try await page.evaluate(shown) == "add-urls,add-folder,start,start,start,start")
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }

        @Test func `a dropped Metalink is one download with its mirrors and its digest`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 1, length: 50_000)
                let urls = (0..<3).map { bench.origin.serve("/mirror\($0)/f.iso", payload) }
                let zeros = String(repeating: "0", count: 64)
                let text = """
                    <?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f.iso">
                    <hash type="sha-256">\(zeros)</hash>\(urls.map { "<url>\($0)</url>" }.joined())</file></metalink>
                    """
                let files = try TemporaryFolder()
                try FileSystem.write(Array(text.utf8), to: files.path("list.txt"))
                let page = try await bench.page()
                try await page.drop(files: [files.path("list.txt")])
                try await page.wait("document.querySelector('#add-urls')?.value === '\(urls[0])'")
                try await page.wait("document.querySelector('#add-checksum').value === 'sha-256=\(zeros)'")
                try await page.evaluate("document.querySelector('.dialog input[value=paused]').click()")
                try await page.click(".dialog .primary")
                try await page.wait(PageBench.isShown("f.iso"))
                let all = try await bench.manager.downloads()
                let details = try #require(try await bench.manager.details(of: all.map(\.id)).first)
                #expect(all.count == 1 && details.sources() == urls)
                #expect(details.options.checksum == "sha-256=\(zeros)")
            }
        }

        @Test func `what is no list is refused by what it is`() async throws {
            try await PageBench.with { bench in
                let files = try TemporaryFolder()
                // Without a server that has the files.
                try FileSystem.write(
                    Self.torrent(of: Payload(seed: 1, length: 100), from: nil), to: files.path("a.torrent"))
                try FileSystem.write([0xFF, 0xD8, 0xFF, 0, 16], to: files.path("photo.jpg"))
                let page = try await bench.page()
                for (name, reason) in [("a.torrent", "names no web seed"), ("photo.jpg", "neither a list")] {
                    try await page.drop(files: [files.path(name)])
                    try await page.wait(
                        "[...document.querySelectorAll('.toast.is-error')].some((one) => one.textContent.includes('\(name)') && one.textContent.includes('\(reason)'))"
                    )
                }
                #expect(try await page.evaluate("document.querySelector('dialog')") == .null)
            }
        }

        /// One file in pieces of 16 KiB.
        private static func torrent(of payload: Payload, from seed: String?) -> [UInt8] {
            let length = 16 << 10
            let bytes = payload.bytes
            let digests = stride(from: 0, to: bytes.count, by: length).flatMap { start in
                ContentDigest.digest(.sha1, of: Array(bytes[start..<min(bytes.count, start + length)]))
            }
            let head =
                "4:infod6:lengthi\(bytes.count)e4:name8:seed.bin12:piece lengthi\(length)e6:pieces\(digests.count):"
            let seeds = seed.map { "8:url-list\($0.utf8.count):\($0)" } ?? ""
            return Array("d8:announce8:http://t\(head)".utf8) + digests + Array("e\(seeds)e".utf8)
        }

        @Test func `a dropped torrent is added after a question, and its files are one row`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 1, length: 100_000)
                let url = bench.origin.serve("/seed.bin", payload)
                let files = try TemporaryFolder()
                try FileSystem.write(Self.torrent(of: payload, from: url), to: files.path("dropped.bin"))
                let page = try await bench.page()
                try await page.drop(files: [files.path("dropped.bin")])
                let answer = try await page.wait(
                    "document.querySelector('dialog')?.textContent || document.querySelector('.toast.is-error')?.textContent"
                )
                #expect(answer.string?.contains("1 file, 97.6 KiB") == true)
                #expect(try await page.problems() == [])
                #expect(bench.origin.log.of("/seed.bin").isEmpty)
                try await page.fill("#torrent-folder", "from-torrent")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "seed.bin", ".row-note")).startsWith('1 of 1')")
                #expect(bench.difference("from-torrent/seed.bin", from: payload) == nil)
            }
        }

        @Test func `a pasted command of curl keeps its cookies and header fields`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/c.bin", Payload(seed: 1, length: 5_000))
                let command = "curl '\(url)' -H 'X-Test: 1' -b 'session=abc' -A Mozilla --compressed"
                let page = try await bench.page()
                try await page.paste(command, into: "body")
                try await page.wait("document.querySelector('#add-urls')?.value === '\(url)'")
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.paste(command, into: "#add-urls")
                try await page.wait("document.querySelector('#add-headers').value.includes('session=abc')")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "c.bin", ".cell-state")) === 'Finished'")
                let request = try #require(bench.origin.log.of("/c.bin").first?.request)
                #expect(request.header("Cookie") == "session=abc" && request.header("X-Test") == "1")
                #expect(request.header("User-Agent") == "Mozilla")
            }
        }

        @Test func `a dropped list keeps mirrors and options, and commands are found in text`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 1, length: 5_000)
                let urls = (0..<4).map { bench.origin.serve("/list/\($0)", payload) }
                let files = try TemporaryFolder()
                let text =
                    "# a list\r\n\(urls[0])\t\(urls[1])\r\n  out=named.bin\r\n  header=X-List: 1\r\n  split=4\r\n"
                let wide = "\u{FEFF}\(text)".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
                try FileSystem.write(wide, to: files.path("list.txt"))
                let page = try await bench.page()
                try await page.drop(files: [files.path("list.txt")])
                try await page.wait("document.querySelector('#add-urls')?.value === '\(urls[0])'")
                try await page.wait("document.querySelector('#add-name').value === 'named.bin'")
                let prose =
                    "To fetch it:\n  $ curl -H 'X-Two: 2' \(urls[2])\n  $ wget -O three.bin \(urls[3])\nThat's all."
                try await page.paste(prose, into: "#add-urls")
                let all = [urls[0], urls[2], urls[3]].joined(separator: ",")
                try await page.wait("document.querySelector('#add-urls').value.split('\\n').join() === '\(all)'")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "three.bin", ".cell-state")) === 'Finished'")
                try await page.wait("\(PageBench.text(of: "named.bin", ".cell-state")) === 'Finished'")
                try await page.wait("\(PageBench.text(of: "2", ".cell-state")) === 'Finished'")
                #expect(bench.origin.log.of("/list/0").first?.request.header("X-List") == "1")
                #expect(bench.origin.log.of("/list/2").first?.request.header("X-Two") == "2")
            }
        }

        @Test func `text about a program that has no command is pasted as it is`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.paste("curl is a tool", into: "#add-urls")
                try await page.wait("document.querySelector('#add-urls').value === 'curl is a tool'")
            }
        }

        @Test func `an error is shown above a dialog that opens, and once`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                for _ in 0..<3 { try await page.paste("nothing", into: "body") }
                try await page.wait("document.querySelectorAll('.toast.is-error').length === 1")
                try await page.press("n")
                try await page.wait("document.querySelector('dialog .toast.is-error') !== null")
                try await page.press("Escape")
                try await page.wait("document.querySelector('body > #toasts') !== null")
            }
        }

        @Test func `a drop without URLs is refused with a message`() async throws {
            try await PageBench.with { bench in
                let files = try TemporaryFolder()
                try FileSystem.write(Array("nothing in it".utf8), to: files.path("notes.txt"))
                let page = try await bench.page()
                try await page.drop(files: [files.path("notes.txt")])
                try await page.wait("document.querySelector('.toast.is-error').textContent.startsWith('No URL found')")
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
                    "document.querySelector('.dialog .problem:not(:empty)').textContent.includes('选项或地址无效')")
                #expect(try await page.evaluate("document.querySelector('.toast.is-error')") == .null)
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }

        @Test func `rejected downloads stay in the dialog with the reason, and the rest is added`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page(BrowserPage.Look(language: "zh-CN"))
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.type("\(bench.origin.url("/good.bin"))\nhttps://host:99999/bad.bin")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('.dialog .problem:not(:empty)').textContent.includes('选项或地址无效')")
                try await page.wait("document.querySelector('#add-urls').value.trim() === 'https://host:99999/bad.bin'")
                try await page.wait(PageBench.isShown("good.bin"))
            }
        }
    }
}

extension BrowserPage {
    /// Drops data or files on the middle of the page, as a drag from outside does.
    func drop(_ items: JSON = [], files: [String] = []) async throws {
        // What appears under the pointer would be another target.
        try await wait("document.querySelector('#empty:not([hidden]), .row:not([hidden])')")
        for type in ["dragEnter", "dragOver", "drop"] {
            try await call(
                "Input.dispatchDragEvent",
                [
                    "type": .string(type), "x": .number(600), "y": .number(500),
                    "data": [
                        "items": items, "files": .array(files.map { .string($0) }), "dragOperationsMask": .number(1),
                    ],
                ])
        }
    }

    /// Pastes text, as the browser does for Ctrl+V.
    func paste(_ text: String, into selector: String) async throws {
        let literal = JSON.string(text).text
        try await evaluate(
            """
            (() => {
              const data = new DataTransfer();
              data.setData("text/plain", \(literal));
              document.querySelector("\(selector)").dispatchEvent(
                new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
            })()
            """)
    }
}
