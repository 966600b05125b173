import Glibc
import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlServer

/// The reference of the methods matches their table.
@Suite struct RPCReferenceTests {
    @Test func `the reference in the documentation matches the table`() throws {
        let path = Checkout.root + "/Documentation/RPC.md"
        if unsafe getenv("PAWL_WRITE_REFERENCE") != nil {
            try FileSystem.write(Array(ServiceMethod.reference.utf8), to: path)
        }
        let text = String(decoding: FileSystem.contents(path) ?? [], as: UTF8.self)
        #expect(text == ServiceMethod.reference, "make rpc-reference")
    }

    @Test(arguments: ServiceMethod.table.map(\.name)) func `an example is an array of parameters`(name: String) throws {
        let method = try #require(ServiceMethod.named(name))
        #expect(try JSON.parse(method.example).array != nil)
        #expect(method.parameters.hasPrefix("[") && method.parameters.hasSuffix("]"))
    }
}
