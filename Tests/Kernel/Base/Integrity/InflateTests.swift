import Testing

@testable import PawlBase

@Suite struct InflatingTests {
    /// Made by zlib 1.2.13: "pawl" 40 times as gzip, and as raw DEFLATE with fixed codes.
    private static let gzip = "H4sIAAAAAAACAytILM8pGMQYAMX22Z+gAAAA"
    private static let raw = "K0gszykYxBgA"
    private static let text = String(repeating: "pawl", count: 40)

    private static func decode(_ bytes: [UInt8], _ coding: String, piece: Int = 3) throws(Inflate.Fault) -> String {
        var rest = bytes[...]
        var decoded: [UInt8] = []
        var inflate = Inflate {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(piece) }
            return Array(rest.prefix(piece))
        } emit: {
            decoded += $0
        }
        try inflate.decode(coding)
        return String(decoding: decoded, as: UTF8.self)
    }

    @Test func `gzip and deflate are decoded, whatever the pieces`() throws {
        let gzip = try #require(Base64.decode(Self.gzip.utf8))
        let raw = try #require(Base64.decode(Self.raw.utf8))
        for piece in [1, 7, 1000] {
            #expect(try Self.decode(gzip, "gzip", piece: piece) == Self.text)
            #expect(try Self.decode(gzip + gzip, "x-gzip", piece: piece) == Self.text + Self.text)
            #expect(try Self.decode(raw, "deflate", piece: piece) == Self.text)
        }
    }

    @Test func `a stream that is cut, damaged or of another coding is malformed`() throws {
        let gzip = try #require(Base64.decode(Self.gzip.utf8))
        for length in gzip.indices {
            #expect(throws: Inflate.Fault.malformed) { try Self.decode(Array(gzip[..<length]), "gzip") }
        }
        #expect(throws: Inflate.Fault.malformed) { try Self.decode(Array("plain text".utf8), "gzip") }
        for index in gzip.indices {
            for bit in 0..<8 {
                var damaged = gzip
                damaged[index] ^= 1 << bit
                _ = try? Self.decode(damaged, "gzip")
            }
        }
    }
}
