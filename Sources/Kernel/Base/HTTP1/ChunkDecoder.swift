/// Separates the framing of a chunked body from its data (RFC 9112 §7.1), incrementally.
///
/// Strict where leniency would hide lost or injected bytes: CR and LF are required after data. Other lines
/// may end in a bare LF.
package struct ChunkDecoder: Hashable, Sendable {
    package enum Step: Hashable, Sendable {
        /// All bytes were framing; more are needed.
        case incomplete
        /// That many bytes of data follow, or as many of them as are available.
        case data(Int)
        /// The last chunk and its trailers are complete.
        case end
        case broken
    }

    private enum State: Hashable, Sendable {
        case size
        /// White space after the size; only an extension or the line's end may follow.
        case padding
        case chunkExtension
        case sizeLineFeed
        case data
        case dataEnd
        case dataLineFeed
        case trailer
        case trailerLine
        case lastLineFeed
        case end
        case broken
    }

    /// Padding and extensions of one chunk, and all trailers together; they are ignored.
    ///
    /// A body of many chunks may have as much for each: every chunk contains data.
    private static let longestExtra = 64 * 1024

    private var state = State.size
    /// The size of the current chunk as read so far, or the rest of its data.
    private var left: Int64 = 0
    private var digits = 0
    private var extra = 0
    /// Whether it is broken by a bare LF behind data, which some clients accept.
    private var lacksReturn = false

    package init() {}

    /// Why it is broken.
    package var fault: TransferFault { lacksReturn ? .bareChunks : .brokenChunks }

    /// Reads framing from the front of `bytes`; returns how many bytes that was and what follows them.
    package mutating func scan(_ bytes: UnsafeRawBufferPointer) -> (framing: Int, step: Step) {
        var index = 0
        while true {
            switch state {
            case .data where left > 0:
                let count = Int(min(left, Int64(bytes.count - index)))
                return (index, count > 0 ? .data(count) : .incomplete)
            case .data: state = .dataEnd
            case .end: return (index, .end)
            case .broken: return (index, .broken)
            default:
                guard index < bytes.count else { return (index, .incomplete) }
                state = unsafe next(bytes[index])
                index += 1
            }
        }
    }

    /// Consumes `count` bytes of the data that the last scan reported.
    package mutating func take(_ count: Int) { left -= Int64(count) }

    /// The state after one byte of framing.
    private mutating func next(_ byte: UInt8) -> State {
        let isLineFeed = byte == 0x0A
        let isReturn = byte == 0x0D
        switch state {
        case .size:
            if let value = byte.hexValue { return digit(value) }
            guard digits > 0 else { return .broken }
            if byte == 0x20 || byte == 0x09 { return .padding }
            return afterSize(byte)
        case .padding:
            if byte == 0x20 || byte == 0x09 { return skip(to: .padding) }
            return afterSize(byte)
        case .chunkExtension: return isLineFeed ? beginData() : skip(to: .chunkExtension)
        case .sizeLineFeed: return isLineFeed ? beginData() : .broken
        // With a size that is one too large the CR counts as data: only both together show that the data ends
        // here.
        case .dataEnd:
            lacksReturn = isLineFeed
            return isReturn ? .dataLineFeed : .broken
        case .dataLineFeed: return isLineFeed ? beginSize() : .broken
        case .trailer: return isLineFeed ? .end : isReturn ? .lastLineFeed : skip(to: .trailerLine)
        case .trailerLine: return isLineFeed ? .trailer : skip(to: .trailerLine)
        case .lastLineFeed: return isLineFeed ? .end : .broken
        case .data, .end, .broken: return state
        }
    }

    private mutating func digit(_ value: UInt8) -> State {
        digits += 1
        guard left <= Int64.max >> 4, digits <= 32 else { return .broken }
        left = left << 4 | Int64(value)
        return .size
    }

    private mutating func afterSize(_ byte: UInt8) -> State {
        switch byte {
        case 0x3B: .chunkExtension
        case 0x0D: .sizeLineFeed
        case 0x0A: beginData()
        default: .broken
        }
    }

    private mutating func beginData() -> State {
        extra = 0
        return left == 0 ? .trailer : .data
    }

    private mutating func beginSize() -> State {
        digits = 0
        left = 0
        extra = 0
        return .size
    }

    private mutating func skip(to state: State) -> State {
        extra += 1
        return extra <= Self.longestExtra ? state : .broken
    }
}
