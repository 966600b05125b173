import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlHTTP

@Suite struct ListenerTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func refusal(_ make: () throws(Failure) -> Listener) -> Failure? {
        do throws(Failure) {
            try make().close()
            return nil
        } catch { return error }
    }

    private func port(_ host: String, _ port: Int) -> Failure? {
        refusal { () throws(Failure) in try .port(host, port, remedy: "take another") }
    }

    @Test func `a port that was given or chosen accepts connections until it is closed`() throws {
        let listener = try Listener.port("127.0.0.1", 0, remedy: "")
        #expect(listener.port > 0)
        #expect(try listener.accept() == nil)
        let again = try #require(port("127.0.0.1", listener.port))
        #expect(again.code == .badOption && again.why == "Address already in use" && again.remedy == "take another")
        #expect(again.place == "127.0.0.1:\(listener.port)")
        // Another address of this machine is free.
        #expect(port("127.0.0.2", listener.port) == nil)
        let client = try connect(to: listener.port)
        defer { close(client) }
        var byte: UInt8 = 7
        let accepted = try #require(try listener.accept())
        defer { close(accepted) }
        #expect(try listener.accept() == nil)
        // It does not block.
        #expect(unsafe recv(accepted, &byte, 1, 0) == -1 && errno == EAGAIN)
        #expect(unsafe send(client, &byte, 1, 0) == 1)
        listener.close()
        // A connection that ends does not keep the port.
        #expect(port("127.0.0.1", listener.port) == nil)
    }

    @Test func `what is no numeric address of this machine is refused with its reason`() {
        #expect(port("localhost", 0)?.why == "not a numeric address")
        #expect(port("192.0.2.1", 0)?.why == "Cannot assign requested address")
        #expect(port("2001:db8::1", 80)?.place == "[2001:db8::1]:80")
    }

    @Test func `a Unix socket is its owner's, and is removed when it is closed`() throws {
        let path = folder.path("socket")
        // What a killed process left.
        _ = try PawlProcess.run("/bin/mkdir", [path + ".new"])
        try FileSystem.write([1], to: path + ".new/s1")
        let first = try Listener.local(path, remedy: "")
        #expect(FileSystem.mode(path) == 0o600 && folder.names == ["socket"] && first.port == 0)
        let second = try Listener.local(path, remedy: "")
        first.close()
        // It has the name of the second one, which stays.
        #expect(folder.names == ["socket"])
        #expect(try second.accept() == nil)
        second.close()
        #expect(folder.names.isEmpty)
    }

    @Test func `a path that is too long, or in no folder, is refused`() throws {
        let long = folder.path(String(repeating: "x", count: 120))
        let refused = try #require(refusal { () throws(Failure) in try .local(long, remedy: "take another") })
        #expect(refused.why == "the path is too long" && refused.place == long && refused.remedy == "take another")
        #expect(folder.names.isEmpty)
        try FileSystem.write([1], to: folder.path("file"))
        let taken = refusal { () throws(Failure) in try .local(folder.path("file"), remedy: "") }
        #expect(taken?.why == "it exists, and is not a socket" && FileSystem.contents(folder.path("file")) == [1])
        let lost = refusal { () throws(Failure) in try .local(folder.path("none/socket"), remedy: "") }
        #expect(lost?.why == "No such file or directory")
    }

    private func connect(to port: Int) throws -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let result = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe Glibc.connect(
                client, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        try #require(result == 0)
        return client
    }
}
