import Pawl
import PawlBase
import PawlTestKit
import Testing

extension BrowserTests {
    /// Unexpected names, numbers and sizes, and their format by locale.
    @Suite struct StrangeDataTests {
        @Test func `a name is text whatever it holds, and hides nothing`() async throws {
            try await PageBench.with { bench in
                let names = [
                    "<img src=x onerror=alert(1)>.bin", String(repeating: "long", count: 60) + ".bin", "__proto__",
                    "مرحبا.bin",
                ]
                var requests = names.enumerated().map { number, name in
                    var request = DownloadRequest(bench.origin.url("/\(number)"))
                    request.options.fileName = name
                    request.group = "<b>\(name)</b>"
                    return request
                }
                // Reversed by the override, its end would look like that of an image.
                requests.append(DownloadRequest(bench.origin.url("/%E2%80%AEgnp.exe")))
                for index in requests.indices { requests[index].start = .paused }
                _ = try await bench.manager.add(requests)
                for width in [360, 1280] {
                    let page = try await bench.page(BrowserPage.Look(width: width, isPhone: width < 700))
                    for name in names + ["gnp.exe"] { try await page.wait(PageBench.isShown(name)) }
                    #expect(
                        try await page.evaluate("document.querySelector('.grid img, .grid b, .filters b')") == .null)
                    #expect(try await page.evaluate("document.documentElement.scrollWidth") == .number(width))
                    try await page.lookCloser()
                    try await page.wait("document.querySelector('.facts dd')")
                    #expect(
                        try await page.evaluate(
                            "[...document.querySelectorAll('#detail, .detail-parts')].every((box) => box.scrollWidth <= box.clientWidth)"
                        ) == .bool(true))
                }
            }
        }

        @Test func `an empty file is 0 bytes long, and done`() async throws {
            try await PageBench.with { bench in
                let page = try await bench.page()
                _ = try await bench.manager.add(bench.origin.serve("/empty.bin", Payload([])))
                try await page.wait("\(PageBench.text(of: "empty.bin", ".cell-state")) === 'Finished'")
                try await page.wait("\(PageBench.text(of: "empty.bin", ".cell-size")) === '0 B'")
                try await page.wait("\(PageBench.text(of: "empty.bin", ".percent")) === '100%'")
            }
        }

        @Test(arguments: [
            ("en-US", "1023 B/s 1.50 KiB 1023 KiB 11.7 MiB 8.00 EiB 99.9% 1h 1m May 18, 2033"),
            ("en-GB", "1023 B/s 1.50 KiB 1023 KiB 11.7 MiB 8.00 EiB 99.9% 1h 1m 18 May 2033"),
            ("zh-CN", "1023 B/s 1.50 KiB 1023 KiB 11.7 MiB 8.00 EiB 99.9% 1时1分 2033年5月18日"),
        ]) func `numbers, intervals and dates are formatted for the reader's locale`(
            language: String, expected: String
        ) async throws {
            try await PageBench.with { bench in
                let page = try await bench.page(BrowserPage.Look(language: language))
                let output = try await page.evaluate(
                    """
                    import("/format.js").then((format) => (format.useLocale(document.documentElement.lang), [format.speed(1023), format.size(1536), format.size(2 ** 20 - 1), format.size(12_345_678), format.size(2 ** 63),
                      format.percent(99.99), format.duration(3661), format.when(2e9), format.when(1e20)].join(" ")))
                    """)
                #expect(output == .string(expected + " "))
            }
        }
    }
}
