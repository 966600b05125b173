import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// A test's own service, an origin, and curl to call it.
final class ServiceBench: Sendable {
    let folder: TemporaryFolder
    let origin: OriginServer
    let service: Service
    let secret = "the-secret-word"

    var root: String { folder.path("root") }
    private var socket: String { folder.path("socket") }
    var base: String { "http://127.0.0.1:\(service.port)" }
    var url: String { base + "/jsonrpc" }

    init(
        root: String? = nil, _ change: (inout ServiceConfiguration) -> Void = { _ in },
        aria2: (inout Aria2Configuration) -> Void = { _ in }
    ) async throws {
        folder = try TemporaryFolder()
        origin = try OriginServer()
        var configuration = ServiceConfiguration(root: root ?? folder.path("root"), socket: folder.path("socket"))
        configuration.port = 0
        configuration.secret = "the-secret-word"
        var interface = Aria2Configuration()
        aria2(&interface)
        interface.extend(&configuration)
        change(&configuration)
        service = try await Service.start(configuration)
    }

    /// Shuts everything down cleanly.
    func close() async {
        await service.stop()
        origin.stop()
    }

    /// Waits on a dedicated thread: the service needs those that tests run on.
    func run(_ program: String, _ arguments: [String]) async throws -> PawlProcess {
        let result = await withCheckedContinuation { continuation in
            SystemThread.detached { continuation.resume(returning: Result { try PawlProcess.run(program, arguments) }) }
        }
        return try result.get()
    }

    func curl(_ arguments: String...) async throws -> String { try await curl(arguments) }

    func curl(_ arguments: [String]) async throws -> String {
        try await run("/usr/bin/curl", ["-sS", "--max-time", "300", "--noproxy", "*"] + arguments).output
    }

    /// Calls over the Unix socket; `parameters` is a JSON array.
    func call(_ method: String, _ parameters: JSON = []) async throws -> JSON {
        let message: JSON = ["id": "t", "method": .string(method), "params": parameters]
        let text = try await curl("--unix-socket", socket, "--data-binary", message.text, "http://pawl/jsonrpc")
        return try JSON.parse(text)
    }

    /// The result of a call that must succeed.
    func result(_ method: String, _ parameters: JSON = []) async throws -> JSON {
        let response = try await call(method, parameters)
        return try #require(response["result"], "\(method) returned \(response.text)")
    }

    /// The gid returned by a call.
    func gid(_ method: String, _ parameters: JSON) async throws -> String {
        let result = try await result(method, parameters)
        return try #require(result.string, "\(method) returned \(result.text)")
    }

    /// The message of a call that must be refused.
    func refusal(_ method: String, _ parameters: JSON = []) async throws -> String {
        let response = try await call(method, parameters)
        return try #require(response["error"]?["message"]?.string, "\(method) returned \(response.text)")
    }

    /// Posts over the port.
    func post(_ text: String, status: Bool = true) async throws -> String {
        try await curl("-w", status ? " %{http_code}" : "", "--data-binary", text, url)
    }

    /// Waits until bytes of a download have arrived.
    func begin(_ gid: String) async throws {
        let id = try #require(try await service.manager.ids(withPrefix: gid).first)
        let download = try #require(try await service.manager.download(withID: id))
        for await snapshot in download.updates where snapshot.written > 0 { return }
    }

    /// Waits for the end of a download.
    func finish(_ gid: String) async throws {
        let id = try #require(try await service.manager.ids(withPrefix: gid).first)
        _ = try await service.manager.download(withID: id)?.file
    }
}
