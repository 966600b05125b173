import Glibc
import Pawl
import PawlBase
import PawlServer
import PawlTestKit
import Testing

extension BrowserTests {
    /// Screenshots of the page's main states, if `PAWL_SCREENSHOTS` names a folder for them.
    @Suite struct PageScreenshots {
        private static var folder: String? { unsafe getenv("PAWL_SCREENSHOTS").map { unsafe String(cString: $0) } }

        @Test(.enabled(if: folder != nil)) func `the main states of the page`() async throws {
            let folder = try #require(Self.folder)
            func take(_ page: BrowserPage, _ name: String) async throws {
                try await page.evaluate("document.fonts.ready.then(() => new Promise(requestAnimationFrame))")
                try await page.screenshot("\(folder)/\(name).png")
                // A small palette is enough, and a third of the size.
                _ = try PawlProcess.run(
                    "/usr/bin/pngquant", ["--force", "--ext", ".png", "--strip", "128", "\(folder)/\(name).png"])
            }
            try await PageBench.with {
                $0.manager.maximumConcurrentDownloads = 4
            } _: { bench in
                let page = try await bench.page(BrowserPage.Look(width: 1360, height: 780))
                try await Scenery.fill(bench, page)
                let first = PageBench.text(of: "debian-13.2.0-amd64-netinst.iso", ".cell-state")
                try await page.wait("\(first) === 'Downloading'")
                try await page.focusList()
                try await page.press("Home")
                try await page.press("Enter")
                // Half a minute of the chart, recorded by the page itself.
                try await page.wait("document.querySelector('.lanes .lane-speed')")
                try await page.wait("performance.now() > 25_000")
                try await take(page, "detail")
                try await page.show(BrowserPage.Look(width: 1360, height: 780, isDark: true))
                try await page.press("Escape")
                try await page.press("Escape")
                try await take(page, "night")

                try await page.show(BrowserPage.Look(width: 1360, height: 780))
                try await page.press("n")
                try await page.wait("document.querySelector('#add-urls')")
                try await page.type(
                    "https://example.org/lectures/01.mp4\nhttps://example.org/lectures/02.mp4\nhttps://example.org/lectures/03.mp4"
                )
                try await take(page, "adding")
                try await page.press("Escape")

                try await page.press("/")
                try await page.type("ratchet")
                try await page.press("Enter")
                try await page.press("Home")
                try await page.press("Enter")
                try await page.wait("document.querySelector('.preview img')?.complete")
                try await take(page, "preview")
                try await phones(bench, take)
            }
        }

        private func phones(_ bench: PageBench, _ take: (BrowserPage, String) async throws -> Void) async throws {
            var look = BrowserPage.Look(width: 390, height: 780, isPhone: true, scale: 2)
            let phone = try await bench.page(look)
            try await phone.wait("document.querySelectorAll('.row:not([hidden])').length > 8")
            try await phone.wait("document.querySelector('.cell-speed').textContent")
            try await take(phone, "phone")
            try await phone.click(".row .row-name")
            try await phone.wait("document.querySelector('.lanes .lane-speed')")
            try await take(phone, "phone-detail")
            look.language = "zh-CN"
            look.isDark = true
            let chinese = try await bench.page(look)
            try await chinese.wait("document.querySelectorAll('.row:not([hidden])').length > 8")
            try await chinese.wait("document.querySelector('.cell-speed').textContent")
            try await take(chinese, "phone-chinese")
        }
    }
}

/// Typical downloads.
private enum Scenery {
    static func fill(_ bench: PageBench, _ page: BrowserPage) async throws {
        let ratchet = try await page.evaluate(drawing)
        let picture = Base64.decode((ratchet.string ?? "").utf8) ?? []
        bench.origin.serve("/pictures/ratchet-and-pawl.png", Payload(picture)) { $0.contentType = "image/png" }
        let done: [(String, Int64, String?)] = [
            ("/pictures/ratchet-and-pawl.png", 0, "pictures"), ("/lectures/mechanics-07.mp4", 18 << 20, "lectures"),
            ("/fonts/garamond-2.1.zip", 3 << 20, nil),
        ]
        for (seed, (path, length, group)) in done.enumerated() {
            if length > 0 { bench.origin.serve(path, Payload(seed: UInt64(seed), length: length)) }
            try await add(bench, path, group: group)
            let name = String(path.split(separator: "/").last ?? "")
            try await page.wait("\(PageBench.text(of: name, ".cell-state")) === 'Finished'")
        }
        bench.origin.serve("/missing/atlas-1897.pdf", Payload([])) { $0.instead = .status(404) }
        try await add(bench, "/missing/atlas-1897.pdf", group: nil)
        let running: [(String, Int64, Int64, String?)] = [
            ("/debian-13.2.0-amd64-netinst.iso", 784, 700_000, nil),
            ("/films/the-clockmaker.mkv", 2480, 450_000, "films"),
            ("/lectures/mechanics-08.mp4", 310, 60_000, "lectures"), ("/archive/letters.tar.zst", 96, 150_000, nil),
        ]
        for (seed, (path, megabytes, pace, group)) in running.enumerated() {
            bench.origin.serve(path, Payload(seed: UInt64(100 + seed), length: megabytes << 20)) {
                $0.pace = pace
                $0.contentType = "application/octet-stream"
                if path.hasSuffix("zst") { $0.framing = .chunked }
            }
            try await add(bench, path, group: group)
        }
        for (number, path) in [
            "films/escapement", "films/the-long-now", "lectures/mechanics-09", "lectures/mechanics-10",
        ].enumerated() {
            bench.origin.serve("/\(path).mp4", Payload(seed: UInt64(200 + number), length: 600 << 20))
            try await add(bench, "/\(path).mp4", group: String(path.split(separator: "/")[0]), isPaused: number == 1)
        }
    }

    private static func add(_ bench: PageBench, _ path: String, group: String?, isPaused: Bool = false) async throws {
        var request = DownloadRequest(bench.origin.url(path))
        request.group = group
        request.start = isPaused ? .paused : .enqueued
        _ = try await bench.manager.add(request)
    }

    /// A ratchet wheel with its pawl, as a PNG.
    private static let drawing = """
        (() => {
          const canvas = Object.assign(document.createElement("canvas"), { width: 900, height: 620 });
          const context = canvas.getContext("2d");
          const sky = context.createLinearGradient(0, 0, 900, 620);
          sky.addColorStop(0, "#243a5e");
          sky.addColorStop(1, "#0f1a2c");
          context.fillStyle = sky;
          context.fillRect(0, 0, 900, 620);
          context.translate(400, 350);
          context.beginPath();
          for (let tooth = 0; tooth <= 24; tooth += 1) {
            const angle = (tooth * Math.PI) / 12;
            context.lineTo(200 * Math.cos(angle), 200 * Math.sin(angle));
            context.lineTo(238 * Math.cos(angle), 238 * Math.sin(angle));
          }
          context.fillStyle = "#d3a24e";
          context.fill();
          for (const [radius, colour] of [[150, "#b98738"], [60, "#243a5e"], [36, "#d3a24e"]]) {
            context.beginPath();
            context.arc(0, 0, radius, 0, 7);
            context.fillStyle = colour;
            context.fill();
          }
          context.beginPath();
          context.moveTo(90, -205);
          context.lineTo(330, -290);
          context.arc(345, -262, 32, -1.9, 1.9);
          context.closePath();
          context.fillStyle = "#8fb3f2";
          context.fill();
          return canvas.toDataURL("image/png").split(",")[1];
        })()
        """
}
