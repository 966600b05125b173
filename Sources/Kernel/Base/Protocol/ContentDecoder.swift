/// Decodes the blocks of DEFLATE (RFC 1951), a piece at a time.
package protocol Inflater: AnyObject {
    /// Begins a stream, which refers to nothing before it.
    func begin()
    /// Decodes up to a piece, and removes what it used from the input: all of it if it returns no bytes.
    func decode(_ input: inout ArraySlice<UInt8>) -> (bytes: [UInt8], state: InflaterState)
}

package enum InflaterState: Hashable, Sendable {
    case goesOn
    /// The last block has ended.
    case ended
    /// What follows the bytes is not DEFLATE.
    case broken
}

/// Decodes gzip (RFC 1952) and zlib (RFC 1950) streams of DEFLATE, to compare the digest of what they contain.
///
/// Total and bounded: malformed input throws, and no more than `limit` bytes are decoded. Output passes in pieces.
package struct ContentDecoder {
    package enum Fault: Error, Hashable, Sendable {
        /// The input is not of this coding, or it ends early.
        case malformed
        /// It decodes to more than is decoded.
        case tooLong
    }

    /// The most bytes that one stream may decode to by default.
    package static let longest: Int64 = 1 << 36

    /// Whether the bytes begin like a gzip file.
    package static func isGzip(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B, 8]) }

    /// Whether a Content-Encoding of this name can be decoded.
    package static func supports(_ coding: String) -> Bool { ["gzip", "x-gzip", "deflate"].contains(coding) }

    private var input: ArraySlice<UInt8> = []
    private let inflater: any Inflater
    private let limit: Int64
    private let next: () -> [UInt8]?
    private let emit: ([UInt8]) -> Void
    private var total: Int64 = 0

    /// `next` returns further input, `nil` at its end; `emit` receives the decoded bytes in order.
    package init(
        _ inflater: any Inflater, limit: Int64 = ContentDecoder.longest, next: @escaping () -> [UInt8]?,
        emit: @escaping ([UInt8]) -> Void
    ) {
        self.inflater = inflater
        self.limit = limit
        self.next = next
        self.emit = emit
    }

    /// Decodes to the end of the input; gzip may have several members.
    package mutating func decode(_ coding: String) throws(Fault) {
        if coding == "deflate" { try deflated() } else { repeat { try member() } while hasMore() }
    }

    private mutating func member() throws(Fault) {
        guard try byte() == 0x1F, try byte() == 0x8B, try byte() == 8 else { throw .malformed }
        let flags = try byte()
        guard flags & 0xE0 == 0 else { throw .malformed }
        try skip(6)
        if flags & 4 != 0 {
            let low = try byte()
            let high = try byte()
            try skip(Int(low) | Int(high) << 8)
        }
        for flag: UInt8 in [8, 16] where flags & flag != 0 { while try byte() != 0 {} }
        if flags & 2 != 0 { try skip(2) }
        try blocks()
        // Check and length are the caller's digest's to prove.
        try skip(8)
    }

    /// Some servers send DEFLATE without zlib's frame.
    private mutating func deflated() throws(Fault) {
        guard hasMore(), let first = input.first else { throw .malformed }
        if first & 0x0F == 8, first >> 4 <= 7 { try skip(2) }
        try blocks()
    }

    private mutating func blocks() throws(Fault) {
        inflater.begin()
        while true {
            let (bytes, state) = inflater.decode(&input)
            total += Int64(bytes.count)
            guard total <= limit else { throw .tooLong }
            if !bytes.isEmpty { emit(bytes) }
            switch state {
            case .goesOn: if bytes.isEmpty, !hasMore() { throw .malformed }
            case .ended: return
            case .broken: throw .malformed
            }
        }
    }

    private mutating func hasMore() -> Bool {
        while input.isEmpty {
            guard let more = next() else { return false }
            input = more[...]
        }
        return true
    }

    private mutating func byte() throws(Fault) -> UInt8 {
        guard hasMore(), let byte = input.popFirst() else { throw .malformed }
        return byte
    }

    private mutating func skip(_ count: Int) throws(Fault) { for _ in 0..<count { _ = try byte() } }
}
