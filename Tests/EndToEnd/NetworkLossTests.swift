import PawlTestKit
import Testing

/// The cable is pulled, in the test's own network namespace.
@Suite(.ownThreads, .serialized, .enabled(if: Namespace.isAvailable)) struct NetworkLossTests {
    private let payload = Payload(seed: 95, length: 8_000_000)

    @Test func `D4 a network loss costs no byte and no retry, and the download resumes automatically`() throws {
        let namespace = try Namespace(number: 11)
        let origin = try OriginServer(address: namespace.address)
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload) { $0.cut = .stall(at: 3_000_000) }
        let process = try namespace.start(
            PawlBinary.path, ["get", "--json", "--retries", "0", "--timeout", "20", "-x", "1", "-d", folder.path, url])
        #expect(process.progress(reaches: 3_000_000))
        try namespace.unplug()
        #expect(process.event("waitingForNetwork") != nil, "\(process.output)")
        #expect(FileSystem.agreement(of: folder.path("f.part"), with: payload) ?? 0 >= 3_000_000)
        #expect(process.exit == nil)
        try namespace.plugIn()
        origin.release("/f")
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(folder.difference("f", from: payload) == nil)
        #expect(outcome.events("retry").isEmpty, "\(outcome)")
    }

    @Test func `D5 started without network nothing is touched until there is one`() throws {
        let namespace = try Namespace(number: 12)
        let origin = try OriginServer(address: namespace.address)
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let url = origin.serve("/f", payload)
        try namespace.unplug()
        let process = try namespace.start(
            PawlBinary.path, ["get", "--json", "--retries", "0", "--timeout", "5", "-d", folder.path, url])
        #expect(process.event("waitingForNetwork") != nil, "\(process.output)")
        #expect(folder.names.isEmpty)
        #expect(origin.log.connections == 0)
        try namespace.plugIn()
        let outcome = Outcome(of: process)
        #expect(outcome.code == 0, "\(outcome)")
        #expect(folder.difference("f", from: payload) == nil)
    }

    @Test func `D4 D9 a wait for the network can be interrupted`() throws {
        let namespace = try Namespace(number: 13)
        let folder = try TemporaryFolder()
        try namespace.unplug()
        let process = try namespace.start(
            PawlBinary.path, ["get", "--json", "-d", folder.path, "http://\(namespace.address):9/f"])
        #expect(process.event("waitingForNetwork") != nil, "\(process.output)")
        process.send(15)
        let outcome = Outcome(of: process)
        #expect(outcome.code == 7, "\(outcome)")
    }
}
