import Glibc
import PawlBase
import PawlSystem
import PawlTestKit

/// A headless Chromium, driven over the DevTools protocol: JSON messages that end with a zero byte, on two pipes.
final class Browser: Sendable {
    private struct State {
        var next: Int64 = 1
        var responses: [Int64: CheckedContinuation<JSON, Never>] = [:]
        /// Problems reported by pages: exceptions, and resources blocked by the content policy.
        var complaints: [String] = []
        var isOver = false
    }

    struct Refused: Error, CustomStringConvertible { let description: String }

    private let folder: TemporaryFolder
    private let process: PawlProcess
    private let orders: Int32
    private let responses: Int32
    private let state = Monitor(State())

    /// In `namespace`, if given, it uses another network.
    ///
    /// With `hasExtensions`, extensions can be loaded, and downloads go into a folder of its own.
    init(in namespace: Namespace? = nil, hasExtensions: Bool = false) throws {
        folder = try TemporaryFolder()
        if hasExtensions { try Browser.writePreferences(in: folder) }
        let (orders, responses) = (folder.path("orders"), folder.path("responses"))
        guard unsafe mkfifo(orders, 0o600) == 0, unsafe mkfifo(responses, 0o600) == 0 else {
            throw SetupFailure("mkfifo \(orders)")
        }
        // Opened for both, so that neither side waits for the other.
        self.orders = unsafe open(orders, O_RDWR | O_CLOEXEC)
        self.responses = unsafe open(responses, O_RDWR | O_CLOEXEC)
        let command = [
            "LANG=en_US.UTF-8", "LANGUAGE=en_US", "/bin/bash", "-c",
            "exec chromium \"$@\" 3<'\(orders)' 4>'\(responses)'", "chromium",
        ]
        process =
            try namespace?.start("/usr/bin/env", command + Browser.arguments(folder))
            ?? PawlProcess("/usr/bin/env", command + Browser.arguments(folder, hasExtensions: hasExtensions))
        SystemThread.detached { [self] in listen() }
    }

    /// Several downloads of a page ask nobody.
    private static func writePreferences(in folder: TemporaryFolder) throws {
        let preferences: JSON = [
            "download": ["default_directory": .string(folder.path("downloads")), "prompt_for_download": .bool(false)],
            "profile": ["default_content_setting_values": ["automatic_downloads": .number(1)]],
        ]
        try FolderPath.make(folder.path("profile/Default"))
        try FileSystem.write(preferences.utf8, to: folder.path("profile/Default/Preferences"))
    }

    private static func arguments(_ folder: TemporaryFolder, hasExtensions: Bool = false) -> [String] {
        [
            hasExtensions ? "--enable-unsafe-extension-debugging" : "--disable-extensions",
            "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--no-first-run", "--disable-gpu",
            "--disable-background-networking", "--disable-component-update",
            "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--no-proxy-server",
            "--autoplay-policy=no-user-gesture-required", "--force-color-profile=srgb",
            "--user-data-dir=\(folder.path("profile"))",
        ]
    }

    var complaints: [String] { state.read(\.complaints) }

    /// Ends the browser and removes its files.
    func close() {
        state.with { $0.isOver = true }
        process.send(SIGKILL)
        _ = process.wait()
        // Wakes the thread that reads.
        _ = unsafe write(responses, [0] as [UInt8], 1)
    }

    /// Calls a method and returns its result.
    func call(_ method: String, _ parameters: JSON = [:], session: String? = nil) async throws -> JSON {
        let response: JSON = await withCheckedContinuation { continuation in
            let id = state.with { state in
                state.next += 1
                state.responses[state.next] = continuation
                return state.next
            }
            var message: [JSON.Member] = [
                JSON.Member("id", .number(id)), JSON.Member("method", .string(method)),
                JSON.Member("params", parameters),
            ]
            if let session { message.append(JSON.Member("sessionId", .string(session))) }
            send(JSON.object(message).utf8 + [0])
        }
        guard let result = response["result"] else {
            throw Refused(description: "\(method): \(response["error"]?["message"]?.string ?? response.text)")
        }
        return result
    }

    private func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes[sent...].withUnsafeBytes { unsafe write(orders, $0.baseAddress, $0.count) }
            guard count > 0 else { return }
            sent += count
        }
    }

    private func listen() {
        var message: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        while !state.read(\.isOver) {
            let count = unsafe read(responses, &block, block.count)
            guard count > 0 else { break }
            for byte in block[..<count] {
                if byte != 0 {
                    message.append(byte)
                } else {
                    receive(message)
                    message = []
                }
            }
        }
        Glibc.close(orders)
        Glibc.close(responses)
    }

    private func receive(_ bytes: [UInt8]) {
        guard let message = try? JSON.parse(bytes) else { return }
        if let id = message["id"]?.integer {
            state.with { $0.responses.removeValue(forKey: id) }?.resume(returning: message)
        } else if message["method"]?.string == "Runtime.exceptionThrown" {
            throttled(message["params"]?["exceptionDetails"]?.text)
        } else if message["method"]?.string == "Log.entryAdded", let entry = message["params"]?["entry"],
            entry["source"]?.string == "security"
        {
            throttled(entry["text"]?.string)
        }
    }

    private func throttled(_ text: String?) {
        state.with { $0.complaints.append(text ?? "something went wrong in the page") }
    }
}
