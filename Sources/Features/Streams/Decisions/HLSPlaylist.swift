package import PawlBase

/// A playlist of HTTP Live Streaming (RFC 8216, draft-pantos-hls-rfc8216bis).
package enum HLSPlaylist: Hashable, Sendable {
    case master(HLSMaster)
    case media(HLSMedia)

    /// The most bytes of a playlist.
    package static let longest = 16 << 20
    static let longestLine = 64 << 10
    static let mostSegments = 100_000
    static let mostVariants = 10_000
    static let mostVariables = 1_000

    /// Whether bytes begin as a playlist does; a byte order mark is not allowed, and common.
    package static func begins(_ bytes: some Sequence<UInt8>) -> Bool {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let front = Array(bytes.prefix(10))
        let start = front.starts(with: mark) ? front.dropFirst(3) : front[...]
        return start.starts(with: "#EXTM3U".utf8)
    }

    /// Whether it is a playlist of segments or variants; one of titles, as music players have it, is a file.
    package static func isStream(_ bytes: [UInt8]) -> Bool {
        guard begins(bytes) else { return false }
        let tag = Array("\n#EXT-X-".utf8)
        var start = 0
        while let end = bytes.firstIndex(of: UInt8(ascii: "\n"), from: start) {
            if bytes[end...].starts(with: tag) { return true }
            start = end + 1
        }
        return false
    }

    /// `address`: where it was received, redirects followed; `imports`: the variables of the master playlist.
    package static func parse(
        _ bytes: [UInt8], from address: WebAddress, importing imports: [String: String] = [:]
    ) throws(StreamFlaw) -> HLSPlaylist {
        guard bytes.count <= longest else { throw StreamFlaw("it has more than \(longest) bytes") }
        guard begins(bytes) else { throw StreamFlaw("it does not begin with #EXTM3U") }
        var reader = HLSReader(address, imports)
        // RFC 8216 §4.1 forbids a byte order mark; one is passed over.
        var start = bytes.startIndex + (bytes.first == UInt8(ascii: "#") ? 0 : 3)
        while start < bytes.endIndex {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.endIndex
            try reader.read(bytes[start..<end])
            start = end + 1
        }
        return try reader.finish()
    }
}

package struct HLSMaster: Hashable, Sendable {
    package struct Variant: Hashable, Sendable {
        package var address: WebAddress
        package var bandwidth: Int64
        package var codecs: String?
        package var width: Int?
        package var height: Int?
        package var frameRate: String?
        package var audio: String?
        package var video: String?
        package var subtitles: String?
    }

    package struct Rendition: Hashable, Sendable {
        package enum Kind: String, Hashable, Sendable {
            case audio = "AUDIO"
            case video = "VIDEO"
            case subtitles = "SUBTITLES"
            case captions = "CLOSED-CAPTIONS"
        }

        package var kind: Kind
        package var group: String
        package var name: String
        package var language: String?
        package var isDefault: Bool
        package var isForced: Bool
        /// `nil`: its media is in the variants' own segments.
        package var address: WebAddress?
    }

    package var variants: [Variant] = []
    package var renditions: [Rendition] = []
    package var variables: [String: String] = [:]
}

package struct HLSMedia: Hashable, Sendable {
    package struct Key: Hashable, Sendable {
        var address: WebAddress
        var initializationVector: [UInt8]?
    }

    package struct Map: Hashable, Sendable {
        var address: WebAddress
        var range: ByteRange?
        var key: StreamSegment.Key?
    }

    package struct Segment: Hashable, Sendable {
        package var segment: StreamSegment
        package var map: Map?
        package var isDiscontinuous: Bool
    }

    package var segments: [Segment] = []
    package var isEnded = false
    /// How often a running programme has a new segment, in microseconds, if that is stated.
    package var target: Int64?

    package init() {}
}
