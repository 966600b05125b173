import PawlSession
import PawlTestKit
import Testing

/// What the compiler says about code for `URLSession` that cannot be ported.
@Suite struct PortingMessageTests {
    private static let lines = [
        ("configuration.requestCachePolicy = .reloadIgnoringLocalCacheData", "responses are not cached"),
        ("configuration.networkServiceType = .background", "no service types"),
        ("configuration.multipathServiceType = .handover", "the network path itself"),
        ("configuration.httpCookieAcceptPolicy = .never", "options.cookieFile"),
        ("configuration.tlsMinimumSupportedProtocolVersion = .TLSv12", "TLS 1.2"),
        ("configuration.urlCache = nil", "responses are not cached"),
        ("task.countOfBytesClientExpectsToReceive = 1", "as soon as there is a slot"),
        ("task.countOfBytesClientExpectsToSend = 1", "no body"),
    ]
    private static let withFoundation = [
        (
            "configuration.requestCachePolicy = URLRequest.CachePolicy.returnCacheDataElseLoad",
            "responses are not cached"
        ), ("configuration.urlCache = .shared", "responses are not cached"),
        ("configuration.httpCookieStorage = .shared", "options.cookieFile"),
        ("configuration.urlCredentialStorage = .shared", "options.user"),
    ]

    /// A method that would never be called.
    private static let measuring = """
        final class Measuring: URLDownloadTaskDelegate {
            func urlSession(_: DownloadSession, task: DownloadTask, didFinishCollecting: URLSessionTaskMetrics) {}
        }
        """

    /// How the build finds the modules, those in C included.
    private static var buildFlags: [String] {
        let modules = PawlBinary.beside("Modules")
        let folders = [FileSystem.folder(of: modules), Checkout.root + "/Sources/C"]
        let maps = folders.flatMap { folder in FileSystem.names(in: folder).map { "\(folder)/\($0)/module.modulemap" } }
        return ["-I", modules]
            + maps.filter { FileSystem.size($0) != nil }.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
    }

    @Test(arguments: [false, true]) func `code that cannot be ported gets a message with what to use instead`(
        usesFoundation: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let statements = Self.lines + (usesFoundation ? Self.withFoundation : [])
        let imports =
            usesFoundation
            ? "import Foundation; import FoundationNetworking; import PawlFoundation; import PawlSession"
            : "import PawlSession"
        let head =
            "\(imports)\nfunc port(_ task: DownloadTask) { var configuration = DownloadSessionConfiguration.default"
        let text = ([head] + statements.map(\.0) + ["}"] + (usesFoundation ? [Self.measuring] : [])).joined(
            separator: "\n")
        try FileSystem.write(Array(text.utf8), to: folder.path("port.swift"))
        let compiler = try PawlProcess(
            "/usr/bin/env", ["swiftc", "-typecheck"] + Self.buildFlags + [folder.path("port.swift")])
        _ = compiler.wait()
        let errors = compiler.errors.split(separator: "\n")
        for (index, statement) in statements.enumerated() {
            let place = "port.swift:\(index + 3):"
            let error = errors.first { $0.contains(place) && $0.contains("error:") }
            #expect(error?.contains(statement.1) == true, "\(statement.0): \(compiler.errors)")
        }
        let isReported = errors.contains { $0.contains("'URLSessionTaskMetrics' is ambiguous") }
        #expect(isReported == usesFoundation, "\(compiler.errors)")
    }
}
