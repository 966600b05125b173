import Glibc
import PawlBase
import PawlTestKit

/// One page in a browser, with storage of its own.
struct BrowserPage: Sendable {
    /// The display settings of the page.
    struct Look: Sendable {
        var width = 1280
        var height = 800
        var isDark = false
        var language = "en-US"
        var isPhone = false
        var scale = 1
    }

    let browser: Browser
    private let session: String
    private let target: String
    /// Its cookies and permissions.
    let context: String

    /// Without `isApart` it shares storage with all such pages, and extensions see it.
    init(_ browser: Browser, _ look: Look = Look(), isApart: Bool = true) async throws {
        self.browser = browser
        var parameters: JSON = ["url": "about:blank"]
        if isApart {
            let made = try await browser.call("Target.createBrowserContext")
            context = made["browserContextId"]?.string ?? ""
            parameters = ["url": "about:blank", "browserContextId": .string(context)]
        } else {
            context = ""
        }
        target = try await browser.call("Target.createTarget", parameters)["targetId"]?.string ?? ""
        session =
            try await browser.call("Target.attachToTarget", ["targetId": .string(target), "flatten": .bool(true)])[
                "sessionId"]?.string ?? ""
        for domain in ["Page", "Runtime", "Log", "Network"] { _ = try await call("\(domain).enable") }
        try await show(look)
    }

    @discardableResult func call(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await browser.call(method, parameters, session: session)
    }

    func show(_ look: Look) async throws {
        _ = try await call(
            "Emulation.setDeviceMetricsOverride",
            [
                "width": .number(look.width), "height": .number(look.height), "deviceScaleFactor": .number(look.scale),
                "mobile": .bool(look.isPhone),
            ])
        _ = try await call("Emulation.setTouchEmulationEnabled", ["enabled": .bool(look.isPhone)])
        _ = try await call(
            "Emulation.setEmulatedMedia",
            ["features": [["name": "prefers-color-scheme", "value": look.isDark ? "dark" : "light"]]])
        _ = try await call(
            "Emulation.setUserAgentOverride", ["userAgent": "PawlTest", "acceptLanguage": .string(look.language)])
    }

    func open(_ url: String) async throws { _ = try await call("Page.navigate", ["url": .string(url)]) }

    /// The value of an expression, which may be a promise.
    @discardableResult func evaluate(_ expression: String) async throws -> JSON {
        let response = try await call(
            "Runtime.evaluate",
            ["expression": .string(expression), "awaitPromise": .bool(true), "returnByValue": .bool(true)])
        if let problem = response["exceptionDetails"] {
            let reason = problem["exception"]?["description"]?.string ?? problem.text
            throw Browser.Refused(description: "\(reason), in \(expression)")
        }
        return response["result"]?["value"] ?? .null
    }

    /// Waits in the page until an expression has a value; the timeout only keeps a failing test from hanging.
    @discardableResult func wait(_ expression: String, atMost seconds: Int = 120) async throws -> JSON {
        for attempt in 0... {
            do {
                return try await evaluate(
                    """
                    new Promise((resolve, reject) => {
                      const end = performance.now() + \(seconds * 1000);
                      const look = () => {
                        let value;
                        try { value = (() => (\(expression)))(); } catch { value = null; }
                        if (value) resolve(value);
                        else if (performance.now() > end) reject(new Error(\(JSON.string(expression).text) +
                          ` did not come true at ${location.href}, ${document.readyState}, ${document.body?.innerText}`));
                        else setTimeout(look, 20);
                      };
                      look();
                    })
                    """)
            } catch let error as Browser.Refused
                where attempt < 20 && error.description.contains("Execution context was destroyed")
                || error.description.contains("Inspected target navigated")
            {
                // The page was left while the test waited in it: the next one is used.
            }
        }
        return .null
    }

    // MARK: input

    /// Presses a key: `Enter`, `a`, `ArrowDown`; modifiers are the protocol's (1 Alt, 2 Control, 8 Shift).
    func press(_ key: String, modifiers: Int = 0) async throws {
        let codes = [
            "Enter": 13, "Escape": 27, " ": 32, "PageUp": 33, "PageDown": 34, "End": 35, "Home": 36, "ArrowLeft": 37,
            "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40, "Delete": 46, "F2": 113, "Tab": 9,
        ]
        let code = codes[key] ?? Int(key.uppercased().utf8.first ?? 0)
        var event: [JSON.Member] = [
            JSON.Member("type", "keyDown"), JSON.Member("key", .string(key)),
            JSON.Member("windowsVirtualKeyCode", .number(code)), JSON.Member("modifiers", .number(modifiers)),
        ]
        let text = key == "Enter" ? "\r" : key
        if text.unicodeScalars.count == 1, modifiers & ~8 == 0 { event.append(JSON.Member("text", .string(text))) }
        _ = try await call("Input.dispatchKeyEvent", .object(event))
        event.removeAll { $0.name == "text" }
        event[0].value = "keyUp"
        _ = try await call("Input.dispatchKeyEvent", .object(event))
    }

    func type(_ text: String) async throws { _ = try await call("Input.insertText", ["text": .string(text)]) }

    /// Clicks in the middle of an element, once it exists, is on top and has not moved between two looks;
    /// `whilePressed` runs before the button is released.
    func click(
        _ selector: String, modifiers: Int = 0, count: Int = 1, whilePressed: () async throws -> Void = {}
    ) async throws {
        let place = try await wait(
            """
            (() => {
              const element = document.querySelector(\(JSON.string(selector).text));
              const box = element.getBoundingClientRect();
              const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
              const isOnTop = box.width > 0 && element.contains(document.elementFromPoint(x, y));
              const [last, place] = [window.lastPlace, isOnTop ? `${x} ${y}` : ""];
              window.lastPlace = place === last ? "" : place;
              return isOnTop && place === last && { x, y };
            })()
            """)
        for kind in ["mousePressed", "mouseReleased"] {
            if kind == "mouseReleased" { try await whilePressed() }
            _ = try await call(
                "Input.dispatchMouseEvent",
                [
                    "type": .string(kind), "x": place["x"] ?? .null, "y": place["y"] ?? .null, "button": "left",
                    "clickCount": .number(count), "modifiers": .number(modifiers),
                ])
        }
    }

    /// Writes a screenshot to a PNG file.
    func screenshot(_ path: String) async throws {
        let data = try await call("Page.captureScreenshot", ["format": "png"])["data"]?.string ?? ""
        guard let bytes = Base64.decode(data.utf8) else { throw Browser.Refused(description: "no picture") }
        try FileSystem.write(bytes, to: path)
    }

    func close() async throws { _ = try await browser.call("Target.closeTarget", ["targetId": .string(target)]) }
}
