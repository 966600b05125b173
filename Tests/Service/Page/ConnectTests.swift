import Pawl
import PawlBase
import PawlServer
import PawlSystem
import PawlTestKit
import Testing

extension BrowserTests {
    /// What leads to the page and from it: links, codes for cameras, addresses of what is shown, other programs' shares.
    @Suite struct ConnectTests {
        @Test func `the dialog has the secret, and a link that logs another browser in once`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                try await page.press("m")
                try await page.click("[data-menu=connect]")
                try await page.wait("document.querySelector('#connect-link')?.value.includes('#code=')")
                let link = try #require(try await page.evaluate("document.querySelector('#connect-link').value").string)
                #expect(
                    try await page.evaluate("document.querySelector('#connect-secret').value").string == bench.secret)
                #expect(try await page.evaluate("document.querySelector('#connect-secret').type") == "password")
                let rpc = try await page.evaluate("document.querySelector('#connect-rpc').value")
                #expect(rpc.string == bench.base + "/jsonrpc")
                #expect(try await page.problems() == [])
                #expect(try await page.violations() == [])
                // An address that leads to the machine itself is nothing for a camera.
                #expect(try await page.evaluate("document.querySelector('.qr')") == .null)
                let other = try await BrowserPage(bench.browser)
                try await other.open(link)
                try await other.wait("document.documentElement.dataset.view === 'list'")
                let third = try await BrowserPage(bench.browser)
                try await third.open(link)
                try await third.wait("document.querySelector('.login .problem')?.textContent.includes('used before')")
            }
        }

        @Test(arguments: [1, 14, 15, 42, 62, 65, 106, 122, 152, 180, 213])
        func `a reader of QR codes reads what was drawn`(
            length: Int
        ) async throws {
            try await PageBench.with { bench in
                let page = try await BrowserPage(bench.browser)
                try await page.open(bench.base)
                let text = "http://192.0.2.10:6800/#code=" + String(repeating: "0f3a9-", count: 40)
                let drawn = String(text.prefix(length))
                let picture = try await page.evaluate(
                    """
                    import("/qr.js").then(({ qrCode }) => {
                      const modules = qrCode(\(JSON.string(drawn).text));
                      const canvas = Object.assign(document.createElement("canvas"), { width: 8 * (modules.length + 8), height: 8 * (modules.length + 8) });
                      const context = canvas.getContext("2d");
                      context.fillStyle = "#fff";
                      context.fillRect(0, 0, canvas.width, canvas.height);
                      context.fillStyle = "#000";
                      modules.forEach((row, y) => row.forEach((isDark, x) => isDark && context.fillRect(8 * (x + 4), 8 * (y + 4), 8, 8)));
                      return canvas.toDataURL("image/png").split(",")[1];
                    })
                    """)
                let files = try TemporaryFolder()
                try FileSystem.write(Base64.decode((picture.string ?? "").utf8) ?? [], to: files.path("code.png"))
                let read = try PawlProcess.run("/usr/bin/zbarimg", ["--raw", "-q", files.path("code.png")])
                #expect(read.output == drawn + "\n")
            }
        }

        @Test func `text that no code holds has none`() async throws {
            try await PageBench.with { bench in
                let page = try await BrowserPage(bench.browser)
                try await page.open(bench.base)
                #expect(
                    try await page.evaluate("import('/qr.js').then(({ qrCode }) => qrCode('x'.repeat(214)))") == .null)
            }
        }

        @Test func `filter, search and details are in the URL, which leads there again`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(3)
                let page = try await bench.page()
                try await page.wait(PageBench.isShown("file-1.bin"))
                #expect(try await page.evaluate("location.hash") == "")
                try await page.press("4")
                try await page.press("/")
                try await page.type("file-1")
                try await page.press("Enter")
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.detail-title')?.textContent === 'file-1.bin'")
                let found = try #require(try await page.evaluate("location.hash").string)
                let wanted = try await bench.manager.download(ofURL: bench.origin.url("/file-1.bin"))?.id.description
                #expect(found == "#filter=paused&search=file-1&download=\(wanted ?? "")")
                // Also in a browser that has to log in first.
                let other = try await BrowserPage(bench.browser)
                try await other.open(bench.base + "/" + found)
                try await other.wait("document.activeElement?.id === 'secret'")
                try await other.type(bench.secret)
                try await other.press("Enter")
                try await other.wait("document.querySelector('.detail-title')?.textContent === 'file-1.bin'")
                #expect(try await other.evaluate("document.querySelector('#search').value") == "file-1")
                let pressed = "document.querySelector('[data-filter=paused]').ariaPressed"
                #expect(try await other.evaluate(pressed) == "true")
                // A link that is opened in the page itself, and one to what is gone.
                try await other.evaluate("location.hash = '#filter=failed'")
                try await other.wait("document.querySelector('#detail').hidden")
                try await other.wait("document.querySelector('[data-filter=failed]').ariaPressed === 'true'")
                try await other.evaluate("location.hash = '#download=0123456789abcdef'")
                try await other.wait(
                    "document.querySelector('.toast.is-error')?.textContent.includes('not in the queue')")
                try await other.wait("location.hash === ''")
            }
        }

        @Test func `the browser's Back on a phone closes the details and keeps the filter`() async throws {
            try await PageBench.with { bench in
                try await bench.addPaused(2)
                let page = try await bench.page(BrowserPage.Look(width: 390, height: 740, isPhone: true))
                try await page.wait(PageBench.isShown("file-0.bin"))
                try await page.click("[data-filter=paused]")
                try await page.wait("location.hash === '#filter=paused'")
                try await page.click(".row .row-name")
                try await page.wait("location.hash.startsWith('#filter=paused&download=')")
                try await page.evaluate("history.back()")
                try await page.wait("document.querySelector('#detail').hidden && location.hash === '#filter=paused'")
                #expect(
                    try await page.evaluate("document.querySelector('[data-filter=paused]').ariaPressed") == "true")
            }
        }

        @Test func `what another application shares opens the dialog, and nothing is requested`() async throws {
            try await PageBench.with { bench in
                let url = bench.origin.serve("/shared.bin", Payload(seed: 1, length: 100))
                let page = try await bench.page()
                let encoded = url.replacing(":", with: "%3A").replacing("/", with: "%2F")
                try await page.open(bench.base + "/?title=A+page&text=See%20\(encoded)")
                try await page.wait("document.querySelector('#add-urls')?.value === '\(url)'")
                #expect(try await page.evaluate("location.href").string == bench.base + "/")
                try await page.press("Escape")
                #expect(bench.origin.log.of("/shared.bin").isEmpty)
                #expect(try await bench.manager.downloads().isEmpty)
            }
        }

        @Test func `a browser can install the page`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                let manifest = try await page.call("Page.getAppManifest")
                #expect(manifest["errors"]?.array?.isEmpty == true)
                let problems = try await page.call("Page.getInstallabilityErrors")
                // A context of its own is a private window, where nothing is installed.
                let ids = problems["installabilityErrors"]?.array?.compactMap { $0["errorId"]?.string }
                #expect(ids == ["in-incognito"])
                let text = try JSON.parse(manifest["data"]?.string ?? "")
                let icons = text["icons"]?.array ?? []
                for icon in icons {
                    let size = icon["sizes"]?.string?.split(separator: "x").first.flatMap { Int($0) }
                    let natural = try await page.evaluate(
                        """
                        new Promise((done) => {
                          const image = new Image();
                          image.onload = () => done(image.naturalWidth);
                          image.src = \(JSON.string("/" + (icon["src"]?.string ?? "")).text);
                        })
                        """)
                    if let size { #expect(natural == .number(size)) }
                }
                #expect(icons.contains { $0["purpose"] == "maskable" } && icons.count == 4)
                #expect(text["share_target"]?["method"] == "GET")
            }
        }
    }
}
