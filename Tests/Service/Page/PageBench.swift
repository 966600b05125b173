import Pawl
import PawlBase
import PawlServer
import PawlSystem
import PawlTestKit
import Testing

/// A service, an origin and a browser for one test.
final class PageBench: Sendable {
    private let folder: TemporaryFolder
    let origin: OriginServer
    let browser: Browser
    let secret = "the-secret-word"
    private let configuration: ServiceConfiguration
    private let running: Monitor<Service?>
    private let port: Int

    var root: String { configuration.root }
    var base: String { "http://127.0.0.1:\(port)" }
    var manager: DownloadManager {
        guard let service = running.read(\.self) else { preconditionFailure("the service is stopped") }
        return service.manager
    }

    private init(hasExtensions: Bool, _ change: (inout ServiceConfiguration) -> Void) async throws {
        folder = try TemporaryFolder()
        origin = try OriginServer()
        browser = try Browser(hasExtensions: hasExtensions)
        var configuration = ServiceConfiguration(root: folder.path("root"), socket: folder.path("socket"))
        configuration.port = 0
        configuration.secret = secret
        change(&configuration)
        let service = try await Service.start(configuration)
        port = service.port
        configuration.port = service.port
        self.configuration = configuration
        running = Monitor(service)
    }

    /// Runs a test, stops everything, and requires every page to be free of problems.
    static func with(
        hasExtensions: Bool = false, _ change: (inout ServiceConfiguration) -> Void = { _ in },
        _ body: (PageBench) async throws -> Void
    ) async throws {
        let bench = try await PageBench(hasExtensions: hasExtensions, change)
        do { try await body(bench) } catch {
            await bench.close()
            throw error
        }
        #expect(bench.browser.complaints == [])
        await bench.close()
    }

    private func close() async {
        browser.close()
        await stopService()
        origin.stop()
    }

    func stopService() async {
        let service = running.with { service in
            defer { service = nil }
            return service
        }
        await service?.stop()
    }

    /// Restarts it at the same port.
    func startService() async throws {
        let service = try await Service.start(configuration)
        running.with { $0 = service }
    }

    /// Calls a method over the Unix socket.
    func call(_ method: String, _ parameters: JSON = []) async throws -> JSON {
        let message: JSON = ["id": "t", "method": .string(method), "params": parameters]
        let socket = configuration.socket
        let text = try await PageBench.aside {
            try PawlProcess.run(
                "/usr/bin/curl",
                [
                    "-sS", "--max-time", "30", "--unix-socket", socket, "--data-binary", message.text,
                    "http://pawl/jsonrpc",
                ]
            ).output
        }
        let response = try JSON.parse(text)
        return try #require(response["result"], "\(method) returned \(text)")
    }

    /// On a dedicated thread: the service needs those that tests run on.
    private static func aside<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let result = await withCheckedContinuation { continuation in
            SystemThread.detached { continuation.resume(returning: Result(catching: body)) }
        }
        return try result.get()
    }

    /// `file-0.bin` and so on, which are never started.
    func addPaused(_ count: Int, from first: Int = 0) async throws {
        let requests = (first..<(first + count)).map { number in
            var request = DownloadRequest(origin.url("/file-\(number).bin"))
            request.start = .paused
            return request
        }
        _ = try await manager.add(requests)
    }

    /// Waits until the download of this path has a state.
    func untilState(_ name: String, _ state: DownloadState) async throws {
        let url = origin.url("/\(name)")
        guard let download = try await manager.download(ofURL: url) else { return }
        for await snapshot in download.updates where snapshot.state == state { return }
    }

    /// Waits until a download is as wanted.
    func until(_ id: Download.ID, _ isWanted: (DownloadSnapshot) -> Bool) async throws {
        guard let download = try await manager.download(withID: id) else { return }
        for await snapshot in download.updates where isWanted(snapshot) { return }
    }

    func difference(_ name: String, from payload: Payload) -> String? {
        FileSystem.difference(of: "\(root)/\(name)", from: payload)
    }

    /// A page that has presented the secret, fully loaded.
    func page(_ look: BrowserPage.Look = BrowserPage.Look()) async throws -> BrowserPage {
        let page = try await BrowserPage(browser, look)
        try await page.open(base)
        try await page.wait("document.activeElement?.id === 'secret'")
        try await page.type(secret)
        try await page.press("Enter")
        try await page.wait("document.documentElement.dataset.view === 'list'")
        return page
    }

    /// The text of a row, as an expression.
    static func text(of name: String, _ selector: String) -> String {
        "\(row(name)).querySelector('\(selector)').textContent"
    }

    static func isShown(_ name: String) -> String { "\(row(name)) !== undefined" }

    static func row(_ name: String) -> String {
        """
        [...document.querySelectorAll(".row:not([hidden])")]
          .find((row) => row.querySelector(".row-name").textContent === "\(name)")
        """
    }
}

extension BrowserPage {
    func focusList() async throws { try await evaluate("document.querySelector('#grid').focus()") }

    /// Drags a row to before another, as a mouse would.
    func drag(row: String, before other: String) async throws {
        try await evaluate(
            """
            (() => {
              const [row, other] = [\(PageBench.row(row)), \(PageBench.row(other))];
              const dataTransfer = new DataTransfer();
              const tell = (target, name) => {
                const box = target.getBoundingClientRect();
                const place = { clientX: box.x + 60, clientY: box.y + 4 };
                target.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true, ...place }));
              };
              if (!row.draggable) throw new Error("the row cannot be dragged");
              tell(row, "dragstart");
              tell(other, "dragover");
              tell(other, "drop");
              tell(row, "dragend");
            })()
            """)
    }
}
