import Glibc
import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlWeb

/// One service per socket and per root, and a clear error for a second one.
@Suite struct ServicePlaceTests {
    private func refusal(_ configuration: ServiceConfiguration) async -> Failure? {
        do throws(Failure) {
            await (try Service.start(configuration)).stop()
            return nil
        } catch { return error }
    }

    @Test func `a second service at the socket or in the root is refused`() async throws {
        let bench = try await ServiceBench()
        var other = ServiceConfiguration(root: bench.folder.path("other"), socket: bench.folder.path("socket"))
        other.port = nil
        let atSocket = try #require(await refusal(other))
        #expect(atSocket.code == .alreadyDownloading)
        #expect(atSocket.why == "a service is already running there (process \(getpid()))")
        other.root = bench.root
        other.socket = bench.folder.path("other-socket")
        #expect(await refusal(other)?.code == .alreadyDownloading)
        // Neither has harmed the running one.
        #expect(try await bench.result("pawl.status")["running"]?.integer == 0)
        await bench.close()
        other.socket = bench.folder.path("socket")
        #expect(await refusal(other) == nil)
    }

    @Test func `the socket is its owner's alone, and is removed with the service`() async throws {
        let bench = try await ServiceBench()
        #expect(FileSystem.mode(bench.folder.path("socket")) == 0o600)
        await bench.close()
        #expect(!bench.folder.names.contains("socket"))
        #expect(!bench.folder.names.contains("socket.new"))
    }

    @Test func `a port in use and an address of another machine are reported with the system's reason`() async throws {
        let bench = try await ServiceBench()
        var other = ServiceConfiguration(root: bench.folder.path("other"), socket: bench.folder.path("other-socket"))
        other.port = bench.service.port
        #expect(await refusal(other)?.why == "Address already in use")
        other.port = 0
        other.address = "192.0.2.1"
        #expect(await refusal(other)?.why == "Cannot assign requested address")
        other.address = "localhost"
        #expect(await refusal(other)?.why == "not a numeric address")
        await bench.close()
    }
}
