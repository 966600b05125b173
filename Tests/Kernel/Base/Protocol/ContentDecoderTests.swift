import PawlSystem
import Testing

@testable import PawlBase

@Suite struct ContentDecoderTests {
    /// Made by zlib 1.2.13: "pawl" 40 times as gzip, and as raw DEFLATE with fixed codes.
    private static let gzip = "H4sIAAAAAAACAytILM8pGMQYAMX22Z+gAAAA"
    private static let raw = "K0gszykYxBgA"
    private static let text = String(repeating: "pawl", count: 40)

    private static func decode(
        _ bytes: [UInt8], _ coding: String, piece: Int = 3
    ) throws(ContentDecoder.Fault) -> String {
        var rest = bytes[...]
        var decoded: [UInt8] = []
        var decoder = ContentDecoder(ZlibInflater()) {
            guard !rest.isEmpty else { return nil }
            defer { rest = rest.dropFirst(piece) }
            return Array(rest.prefix(piece))
        } emit: {
            decoded += $0
        }
        try decoder.decode(coding)
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
            #expect(throws: ContentDecoder.Fault.malformed) { try Self.decode(Array(gzip[..<length]), "gzip") }
        }
        #expect(throws: ContentDecoder.Fault.malformed) { try Self.decode(Array("plain text".utf8), "gzip") }
        for index in gzip.indices {
            for bit in 0..<8 {
                var damaged = gzip
                damaged[index] ^= 1 << bit
                _ = try? Self.decode(damaged, "gzip")
            }
        }
    }

    /// A coding of one block for `Inflater`: bytes up to a zero.
    private final class Words: Inflater {
        func begin() {}
        func decode(_ input: inout ArraySlice<UInt8>) -> (bytes: [UInt8], state: InflaterState) {
            let word = input.prefix { $0 != 0 }
            input = input.dropFirst(word.count)
            if word.contains(.questionMark) { return (Array(word), .broken) }
            return (Array(word), input.popFirst() == nil ? .goesOn : .ended)
        }
    }

    private static func words(
        _ bytes: [UInt8], _ coding: String, limit: Int64 = 100
    ) throws(ContentDecoder.Fault) -> String {
        var rest = bytes[...]
        var words: [UInt8] = []
        var decoder = ContentDecoder(Words(), limit: limit) {
            rest.popFirst().map { [$0] }
        } emit: {
            words += $0
        }
        try decoder.decode(coding)
        return String(decoding: words, as: UTF8.self)
    }

    private static func member(_ flags: UInt8, _ content: String, fields: [UInt8] = []) -> [UInt8] {
        [0x1F, 0x8B, 8, flags, 1, 2, 3, 4, 5, 6] + fields + Array(content.utf8) + [0] + [UInt8](repeating: 9, count: 8)
    }

    @Test func `the fields of a gzip header are skipped, and several members follow each other`() throws {
        let fields: [UInt8] = [3, 0, 7, 0, 7] + Array("name".utf8) + [0] + Array("comment".utf8) + [0] + [0xAB, 0xCD]
        let first = Self.member(0x1F, "a", fields: fields)
        #expect(try Self.words(first + Self.member(0, "b") + Self.member(8, "c", fields: [0]), "gzip") == "abc")
        for length in first.indices {
            #expect(throws: ContentDecoder.Fault.malformed) { try Self.words(Array(first[..<length]), "gzip") }
        }
        for flags: UInt8 in [0x20, 0x40, 0x80] {
            #expect(throws: ContentDecoder.Fault.malformed) { try Self.words(Self.member(flags, "a"), "gzip") }
        }
        #expect(throws: ContentDecoder.Fault.malformed) { try Self.words(Self.member(0, "a") + [0], "gzip") }
        #expect(throws: ContentDecoder.Fault.malformed) { try Self.words(Self.member(0, "a?"), "gzip") }
    }

    @Test func `deflate may have zlib's frame, and what follows its blocks does not count`() throws {
        #expect(try Self.words([0x78, 0x9C] + Array("a".utf8) + [0, 1, 2], "deflate") == "a")
        #expect(try Self.words(Array("a".utf8) + [0] + Array("?".utf8), "deflate") == "a")
        #expect(throws: ContentDecoder.Fault.malformed) { try Self.words([], "deflate") }
        #expect(throws: ContentDecoder.Fault.malformed) { try Self.words(Array("a".utf8), "deflate") }
    }

    @Test func `more than the limit is too long, which is not malformed`() throws {
        let bytes = Self.member(0, "abc") + Self.member(0, "de")
        #expect(try Self.words(bytes, "gzip", limit: 5) == "abcde")
        #expect(throws: ContentDecoder.Fault.tooLong) { try Self.words(bytes, "gzip", limit: 4) }
        #expect(throws: ContentDecoder.Fault.tooLong) { try Self.words(bytes, "gzip", limit: 0) }
    }
}
