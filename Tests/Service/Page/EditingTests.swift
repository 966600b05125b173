import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// What is entered: URLs of any form, drafts, and changes of existing downloads.
    @Suite struct EditingTests {
        private func openAdding(_ page: BrowserPage, _ text: String) async throws {
            try await page.press("n")
            try await page.fill("#add-urls", text)
        }

        @Test func `a download that needs a login gets one in the page, and finishes`() async throws {
            try await PageBench.with { bench in
                let payload = Payload(seed: 1, length: 50_000)
                let url = bench.origin.serve("/secret.bin", payload) { $0.login = .basic(user: "me", password: "word") }
                let page = try await bench.page()
                _ = try await bench.manager.add(url)
                try await page.wait("\(PageBench.text(of: "secret.bin", ".remedy")) === 'Sign in…'")
                #expect(
                    try await page.evaluate("\(PageBench.text(of: "secret.bin", ".row-note"))").string?.contains("--")
                        == false)
                try await page.click(".row .remedy")
                try await page.fill("#sign-user", "me")
                try await page.fill("#sign-password", "word")
                try await page.click(".dialog .primary")
                try await page.wait("\(PageBench.text(of: "secret.bin", ".cell-state")) === 'Finished'")
                #expect(bench.difference("secret.bin", from: payload) == nil)
            }
        }

        @Test func `an object store's refusal asks for no user name`() async throws {
            try await PageBench.with { bench in
                bench.origin.serve("/bucket/secret.bin", Payload(seed: 1, length: 50)) {
                    $0.login = .basic(user: "me", password: "word")
                }
                let page = try await bench.page()
                var request = DownloadRequest("s3://bucket/secret.bin")
                request.options.endpoint = bench.origin.url("/")
                request.options.signsRequests = false
                _ = try await bench.manager.add(request)
                try await page.wait("\(PageBench.text(of: "secret.bin", ".remedy")) === 'Retry'")
                let note = try await page.evaluate("\(PageBench.text(of: "secret.bin", ".row-note"))").string
                #expect(note?.contains("check the access key") == true)
            }
        }

        @Test func `every option of a download is edited in the form that added it`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(1)
                let id = try #require(try await bench.manager.downloads().first?.id)
                _ = try await bench.call(
                    "pawl.set",
                    [.string(id.description), ["options": ["user": "me", "password": "old", "header": ["X-One: 1"]]]])
                let page = try await bench.page()
                try await page.click(".row .row-name")
                try await page.press("e")
                try await page.wait("document.querySelector('#add-user')?.value === 'me'")
                #expect(try await page.evaluate("document.querySelector('#add-password').value") == "")
                #expect(try await page.evaluate("document.querySelector('#add-headers').value") == "X-One: 1")
                // Errors stand below their field, all at once.
                for (field, value) in [("limit", "fast"), ("connections", "99"), ("priority", "1.5"), ("headers", "X")]
                { try await page.fill("#add-\(field)", value) }
                try await page.fill("#edit-url", "nothing")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "document.querySelector('#add-limit-problem').textContent.startsWith('Invalid speed limit')")
                #expect(try await page.evaluate("document.querySelector('#add-limit').ariaInvalid") == "true")
                for (field, problem) in [
                    ("edit-url", "Not a URL: nothing"), ("add-headers", "Not a header field (Name: value): X"),
                    ("add-connections", "Enter a whole number from 1 to 60."),
                    ("add-priority", "Enter a whole number."),
                ] {
                    #expect(
                        try await page.evaluate("document.querySelector('#\(field)-problem').textContent")
                            == .string(problem))
                }
                try await page.fill("#edit-url", bench.origin.url("/file-0.bin"))
                for (field, value) in [
                    ("limit", "2M"), ("headers", "X-Two: 2\nX-Three: 3"), ("connections", "4"), ("folder", "films"),
                    ("checksum", "md5=00000000000000000000000000000000"), ("group", "evening"), ("priority", "3"),
                ] { try await page.fill("#add-\(field)", value) }
                try await page.press("Enter", modifiers: 2)
                try await page.wait("!document.querySelector('dialog')")
                let found = try await bench.manager.details(of: [id])
                let details = try #require(found.first)
                #expect(details.options.rateLimit == 2 << 20)
                #expect(details.options.headers == ["X-Two: 2", "X-Three: 3"])
                #expect(details.options.connections == 4)
                #expect(details.options.checksum == "md5=00000000000000000000000000000000")
                #expect(details.options.user == "me")
                #expect(details.options.password == "old")
                #expect(details.snapshot.folder == "films")
                #expect(details.snapshot.group == "evening")
                #expect(details.snapshot.priority == 3)
            }
        }

        @Test func `pasted text is cleaned, and other kinds of links are refused with their name`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let found = try await page.evaluate(
                    """
                    import("/addresses.js").then(({ intake, expand }) => [
                      intake("www.example.org/a.zip\\nexample.org:8080/b (see https://x.org/c_(d).)\\nlocalhost:1/e\\ns3://bucket/key").urls.join(),
                      intake("magnet:?xt=urn:btih:1 thunder://QUE").refused.join(),
                      intake("notes.txt and so on").urls.length, intake("# https://x.org/no").urls.length,
                      expand("http://x/[08-11]-[a-b].rar").join(), expand("http://x/[3-1]").join(),
                      expand("http://x/[1-100000]"), expand("http://[::1]/f").join(),
                    ])
                    """)
                #expect(
                    found == [
                        "https://www.example.org/a.zip,https://x.org/c_(d),http://localhost:1/e,s3://bucket/key",
                        "magnet,thunder", .number(0), .number(0),
                        "http://x/08-a.rar,http://x/08-b.rar,http://x/09-a.rar,http://x/09-b.rar,http://x/10-a.rar,http://x/10-b.rar,http://x/11-a.rar,http://x/11-b.rar",
                        "http://x/3,http://x/2,http://x/1", .null, "http://[::1]/f",
                    ])
                try await page.evaluate(
                    """
                    (() => {
                      const data = new DataTransfer();
                      data.setData("text/plain", "magnet:?xt=urn:btih:1");
                      document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true }));
                    })()
                    """)
                try await page.wait("document.querySelector('.toast.is-error').textContent.includes('magnet')")
            }
        }

        @Test func `a pattern stands for many, with a preview; control and return adds them`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let base = bench.origin.url("/part-")
                try await openAdding(page, "\(base)[01-03].bin")
                try await page.wait(
                    "document.querySelector('.count-line .hint').textContent === '3 URLs · \(base)01.bin … \(base)03.bin'"
                )
                try await page.evaluate("document.querySelector('.dialog input[value=paused]').click()")
                try await page.evaluate("document.querySelector('#add-urls').focus()")
                try await page.press("Enter", modifiers: 2)
                try await page.wait(PageBench.isShown("part-03.bin"))
                #expect(try await bench.manager.downloads().count == 3)
                // A duplicate is reported.
                try await openAdding(page, "\(base)01.bin")
                try await page.evaluate("document.querySelector('.dialog input[value=paused]').click()")
                try await page.click(".dialog .primary")
                try await page.wait(
                    "[...document.querySelectorAll('.toast')].some((toast) => toast.textContent.includes('Already in the queue: part-01.bin'))"
                )
            }
        }

        @Test func `what was entered is offered after the dialog was closed, without the password`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await openAdding(page, "https://example.org/a.iso")
                try await page.fill("#add-folder", "films")
                try await page.fill("#add-password", "word")
                // A press beside it.
                try await page.evaluate(
                    "document.querySelector('dialog').dispatchEvent(new PointerEvent('pointerdown'))")
                try await page.wait("!document.querySelector('dialog')")
                // What is dropped now is all that the list has.
                try await page.drop([["mimeType": "text/uri-list", "data": "https://example.org/b.iso"]])
                try await page.wait("document.querySelector('#add-urls')?.value === 'https://example.org/b.iso'")
                #expect(try await page.evaluate("document.querySelector('#add-folder').value") == "")
                try await page.click(".dialog .draft")
                try await page.wait(
                    "document.querySelector('#add-urls').value.split('\\n').join() === 'https://example.org/a.iso,https://example.org/b.iso'"
                )
                #expect(try await page.evaluate("document.querySelector('.dialog .draft')") == .null)
                #expect(try await page.evaluate("document.querySelector('#add-folder').value") == "films")
                #expect(try await page.evaluate("document.querySelector('#add-password').value") == "")
            }
        }

        @Test func `a check shows name, size and ranges before anything is added`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let good = bench.origin.serve("/film.mkv", Payload(seed: 1, length: 3 << 20))
                let gone = bench.origin.serve("/gone.mkv", Payload([])) { $0.instead = .status(404) }
                try await openAdding(page, "\(good)\n\(gone)")
                try await page.click(".count-line button")
                let lines = "[...document.querySelectorAll('.checks li')].map((line) => line.textContent)"
                try await page.wait("\(lines)[0] === 'film.mkv · 3.00 MiB · can be resumed'")
                try await page.wait("\(lines)[1].includes('404 Not Found')")
                #expect(try await bench.manager.downloads().isEmpty)
                #expect(FileSystem.names(in: bench.root + "/.pawl").filter { $0.hasPrefix("check") } == [])
            }
        }

        @Test func `what the service does not do is reported in front of the dialog`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await openAdding(page, "https://example.org/a.iso")
                await bench.stopService()
                try await page.press("Enter", modifiers: 2)
                try await page.wait("document.querySelector('dialog .toast.is-error')")
                try await page.click(".toast button")
                try await page.wait("!document.querySelector('.toast')")
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
                #expect(try await page.evaluate("document.querySelector('#toasts').isConnected") == .bool(true))
            }
        }

        @Test func `a link to the page hands a URL over, before and after the login`() async throws {
            try await PageBench.with { bench in
                let page = try await BrowserPage(bench.browser)
                try await page.open(bench.base + "/#add=https%3A%2F%2Fexample.org%2Fa.iso%3Fb%3D1")
                try await page.wait("document.activeElement?.id === 'secret'")
                try await page.type(bench.secret)
                try await page.press("Enter")
                try await page.wait("document.querySelector('#add-urls')?.value === 'https://example.org/a.iso?b=1'")
                #expect(try await page.evaluate("location.hash") == "")
                try await page.evaluate("location.hash = '#add=https://example.org/b.iso'")
                try await page.wait(
                    "document.querySelector('#add-urls').value.endsWith('\\nhttps://example.org/b.iso')")
                try await page.evaluate("location.hash = '#add=https%3A%2F%2Fexample.org%2Fa%20film.mkv'")
                let lines = "document.querySelector('#add-urls').value.split('\\n')"
                try await page.wait("\(lines).at(-1) === 'https://example.org/a%20film.mkv'")
                #expect(try await bench.manager.downloads().isEmpty)
                try await page.press("Escape")
                try await page.wait("!document.querySelector('dialog')")
                try await page.focusList()
                try await page.press("m")
                try await page.click("[data-menu=connect]")
                try await page.wait("document.querySelector('.bookmarklet').href.startsWith('javascript:')")
                #expect(
                    try await page.evaluate("document.querySelector('.bookmarklet').href").string?.contains("/#add=")
                        == true)
            }
        }
    }
}
