import PawlHTTP
import PawlSystem
import PawlTestKit
import Synchronization
import Testing

@testable import PawlBase

@Suite struct OriginCookiesTests {
    private final class Ends: Sendable {
        private let list = Mutex<[(loaded: [String], current: [String])]>([])

        var all: [(loaded: [String], current: [String])] { list.withLock(\.self) }

        func add(_ loaded: [String], _ current: [String]) { list.withLock { $0.append((loaded, current)) } }
    }

    private func request(
        _ url: String, _ settings: TransferSettings = TransferSettings(TransferSettings.Values()), secrets: Bool = true
    ) throws -> TransferRequest {
        TransferRequest(address: try WebAddress.parse(url).address, carriesSecrets: secrets, settings: settings)
    }

    private func settings(_ file: String) -> TransferSettings {
        var values = TransferSettings.Values()
        values.cookieFile = file
        return TransferSettings(values)
    }

    private func file(in folder: TemporaryFolder, _ text: String) throws -> String {
        try FileSystem.write(Array(text.utf8), to: folder.path("cookies"))
        return folder.path("cookies")
    }

    private func line(_ name: String, _ value: String, at host: String = "a.example") -> String {
        "\(host)\tFALSE\t/\tFALSE\t0\t\(name)\t\(value)"
    }

    @Test func `nothing crosses to another origin, other settings, or a request without secrets`() throws {
        let cookies = OriginCookies(clock: SystemClock(), onEnd: nil)
        let own = try request("http://a.example/")
        cookies.store(["a=1; Domain=a.example"], from: own)
        #expect(try cookies.field(for: own) == "a=1")
        var path = own
        path.address.path = "/other"
        #expect(try cookies.field(for: path) == "a=1")
        for other in ["http://a.example:81/", "https://a.example/", "http://b.a.example/"] {
            #expect(try cookies.field(for: request(other, own.settings)) == nil)
        }
        #expect(try cookies.field(for: request("http://a.example/")) == nil)
        #expect(try cookies.field(for: request("http://a.example/", own.settings, secrets: false)) == nil)
    }

    @Test func `a file is read where secrets go, once for its settings`() throws {
        let folder = try TemporaryFolder()
        let file = try file(in: folder, line("a", "1") + "\n" + line("b", "2", at: "b.example") + "\n")
        let settings = settings(file)
        let cookies = OriginCookies(clock: SystemClock(), onEnd: nil)
        #expect(try cookies.field(for: request("http://a.example/", settings)) == "a=1")
        #expect(try cookies.field(for: request("http://b.example/", settings, secrets: false)) == nil)
        try FileSystem.write([], to: file)
        #expect(try cookies.field(for: request("http://b.example/", settings)) == "b=2")
        #expect(try cookies.field(for: request("http://b.example/", self.settings(file))) == nil)
    }

    @Test func `a file that cannot be read ends the request`() throws {
        let folder = try TemporaryFolder()
        let cookies = OriginCookies(clock: SystemClock(), onEnd: nil)
        for path in [folder.path, folder.path + "/missing"] {
            let request = try request("http://a.example/", settings(path))
            let fault = #expect(throws: TransferFault.self) { try cookies.field(for: request) }
            #expect(fault?.text == "cannot read the cookie file \(path)")
        }
    }

    @Test func `what an origin started with and what it has are reported at the end`() throws {
        let folder = try TemporaryFolder()
        let foreign = line("b", "2", at: "b.example")
        let settings = settings(
            try file(in: folder, [line("a", "1"), line("c", "3"), foreign].joined(separator: "\n")))
        let ends = Ends()
        var cookies: OriginCookies? = OriginCookies(clock: SystemClock()) { ends.add($0, $1) }
        let request = try request("http://a.example/", settings)
        #expect(try cookies?.field(for: request) == "a=1; c=3")
        cookies?.store(["a=; Path=/; Max-Age=0", "c=4; Path=/"], from: request)
        #expect(ends.all.isEmpty)
        cookies = nil
        let all = ends.all
        #expect(all.map(\.loaded) == [[line("a", "1"), line("c", "3"), foreign]])
        #expect(all.map(\.current) == [[line("c", "4"), foreign]])
    }

    @Test func `of many origins the half that was not used last is forgotten`() throws {
        let ends = Ends()
        let cookies = OriginCookies(clock: SystemClock()) { ends.add([], $1) }
        let settings = TransferSettings(TransferSettings.Values())
        let requests = try (0..<257).map { try request("http://h\($0).example/", settings) }
        for (number, request) in requests[..<256].enumerated() { cookies.store(["n=\(number)"], from: request) }
        for request in requests[..<128] { _ = try cookies.field(for: request) }
        cookies.store(["n=256"], from: requests[256])
        let forgotten = Set(ends.all.flatMap(\.current))
        #expect(forgotten == Set((128..<256).map { line("n", "\($0)", at: "h\($0).example") }))
        #expect(try cookies.field(for: requests[0]) == "n=0")
        #expect(try cookies.field(for: requests[200]) == nil)
        #expect(try cookies.field(for: requests[256]) == "n=256")
    }
}
