import PawlBase
import Testing

@testable import PawlTorrent

@Suite struct BencodeTests {
    private static func fault(_ text: String) -> String? {
        do throws(Bencode.Fault) { _ = try Bencode.document(Array(text.utf8)) } catch { return error.words }
        return nil
    }

    @Test func `a dictionary has its values, and says where they stand`() throws {
        let document = try Bencode.document(Array("d1:ai-7e1:bl1:xi0eee".utf8))
        #expect(document.root["a"] == .integer(-7))
        #expect(document.root["b"] == .list([.bytes([UInt8(ascii: "x")]), .integer(0)]))
        #expect(document.spans[[UInt8(ascii: "b")]] == 11..<19)
        #expect(document.root["c"] == nil)
    }

    @Test func `keys may be in any order, but not twice`() {
        #expect(Self.fault("d1:bi1e1:ai2ee") == nil)
        #expect(Self.fault("d1:ai1e1:ai2ee")?.hasPrefix("a key stands there twice") == true)
    }

    @Test(arguments: [
        "", "i1e", "d", "d1:a", "d1:ai1e", "d1:ai1ee ", "d1:ai-0ee", "d1:ai03ee", "d1:aiee", "d1:ai-ee", "d1:ai+1ee",
        "d1:ai99999999999999999999ee", "d01:ai1ee", "d1:a9:xe", "d1:a18446744073709551616:xe", "di1ei2ee", "d1:al",
    ]) func `what is not written as it has to be is refused`(_ text: String) {
        #expect(Self.fault(text) != nil)
    }

    @Test func `values within each other have a limit`() {
        func nested(_ depth: Int) -> String {
            "d1:a" + String(repeating: "l", count: depth) + String(repeating: "e", count: depth) + "e"
        }
        #expect(Self.fault(nested(100)) == nil)
        #expect(Self.fault(nested(101))?.hasPrefix("it is nested too deeply") == true)
        #expect(Self.fault(nested(1_000_000))?.hasPrefix("it is nested too deeply") == true)
    }
}
