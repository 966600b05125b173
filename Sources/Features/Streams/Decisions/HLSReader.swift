import PawlBase

/// Reads a playlist line by line.
struct HLSReader {
    private let address: WebAddress
    private var variables: HLSVariables
    private var master = HLSMaster()
    private var media = HLSMedia()
    private var isMaster = false
    private var isMedia = false
    private var line = 0
    /// The attributes of a variant whose URI follows.
    private var variant: HLSAttributes?
    /// What is said of the segment whose URI follows.
    private var duration: Int64?
    private var range: (length: Int64, start: Int64?)?
    private var isDiscontinuous = false
    private var isGap = false
    /// The keys in force, by their format.
    private var keys: [String: HLSKeyLine] = [:]
    private var map: HLSMedia.Map?
    private var sequence: UInt64 = 0
    /// Where the range of the segment before ended.
    private var before: (address: WebAddress, end: Int64)?

    init(_ address: WebAddress, _ imports: [String: String]) {
        self.address = address
        variables = HLSVariables(address, imports)
    }

    mutating func read(_ bytes: ArraySlice<UInt8>) throws(StreamFlaw) {
        line += 1
        guard bytes.count <= HLSPlaylist.longestLine else {
            throw StreamFlaw("its line \(line) has more than \(HLSPlaylist.longestLine) bytes")
        }
        let text = bytes.trimmed { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\t") }
        guard let first = text.first else { return }
        do throws(StreamFlaw) {
            if first != UInt8(ascii: "#") { return try readURI(String(decoding: text, as: UTF8.self)) }
            guard text.starts(with: "#EXT".utf8) else { return }
            let colon = text.firstIndex(of: UInt8(ascii: ":"))
            let tag = String(decoding: text[..<(colon ?? text.endIndex)], as: UTF8.self)
            try read(tag, colon.map { text[($0 + 1)...] } ?? [])
        } catch {
            var placed = StreamFlaw("its line \(line): \(error.why)")
            placed.isProtected = error.isProtected
            throw error.isProtected ? error : placed
        }
    }

    private mutating func read(_ tag: String, _ value: ArraySlice<UInt8>) throws(StreamFlaw) {
        switch tag {
        case "#EXT-X-DEFINE": try variables.define(try attributes(value, substituting: false))
        case "#EXT-X-STREAM-INF":
            isMaster = true
            variant = try attributes(value)
        case "#EXT-X-MEDIA":
            isMaster = true
            try readRendition(try attributes(value))
        case "#EXT-X-I-FRAMES-ONLY":
            throw StreamFlaw("it has only key frames, for previews (EXT-X-I-FRAMES-ONLY)")
        case "#EXT-X-ENDLIST": media.isEnded = true
        case "#EXTINF":
            isMedia = true
            duration = try HLSNumber.microseconds(value.prefix { $0 != UInt8(ascii: ",") })
        case "#EXT-X-TARGETDURATION":
            isMedia = true
            media.target = try? HLSNumber.microseconds(value)
        case "#EXT-X-MEDIA-SEQUENCE":
            isMedia = true
            guard media.segments.isEmpty else { throw StreamFlaw("EXT-X-MEDIA-SEQUENCE is behind a segment") }
            sequence = try HLSNumber.integer(value)
        case "#EXT-X-BYTERANGE": range = try HLSNumber.range(value)
        case "#EXT-X-DISCONTINUITY": isDiscontinuous = true
        case "#EXT-X-GAP": isGap = true
        case "#EXT-X-KEY":
            isMedia = true
            try readKey(try attributes(value))
        case "#EXT-X-MAP":
            isMedia = true
            try readMap(try attributes(value))
        case _: break
        }
    }

    private func attributes(
        _ value: ArraySlice<UInt8>, substituting: Bool = true
    ) throws(StreamFlaw) -> HLSAttributes {
        var found = try HLSAttributes(value)
        if substituting { try found.substitute(variables) }
        return found
    }

    private func resolved(_ reference: String) throws(StreamFlaw) -> WebAddress {
        do throws(Failure) {
            let found = try address.resolving(reference)
            guard found.scheme == .http || found.scheme == .https else {
                throw Failure(.badResponse, "", at: "", because: "it is no HTTP URL")
            }
            return found
        } catch { throw StreamFlaw("the URI \(Redaction.address(reference)) cannot be used: \(error.why)") }
    }

    private mutating func readURI(_ text: String) throws(StreamFlaw) {
        let found = try resolved(try variables.substituted(text))
        if let attributes = variant {
            variant = nil
            guard master.variants.count < HLSPlaylist.mostVariants else { throw StreamFlaw("it has too many variants") }
            master.variants.append(try HLSMaster.Variant(attributes, found))
            return
        }
        // A master playlist may list streams that are not described.
        guard let duration else {
            guard isMaster else { throw StreamFlaw("no EXTINF is before the segment") }
            return
        }
        try append(found, duration)
    }

    private mutating func append(_ found: WebAddress, _ duration: Int64) throws(StreamFlaw) {
        guard media.segments.count < HLSPlaylist.mostSegments else {
            throw StreamFlaw("it has more than \(HLSPlaylist.mostSegments) segments")
        }
        var segment = StreamSegment(address: found, number: sequence, duration: duration)
        if let (length, start) = range {
            let first = start ?? (before?.address == found ? before?.end : nil)
            guard let first else {
                throw StreamFlaw("EXT-X-BYTERANGE has no offset, and follows no range of that file")
            }
            guard length > 0, first <= Int64.max - length else { throw StreamFlaw("EXT-X-BYTERANGE is impossible") }
            segment.range = ByteRange(first, first + length)
            before = (found, first + length)
        } else {
            before = nil
        }
        segment.isGap = isGap
        segment.key = try keys.key(of: sequence)
        media.segments.append(HLSMedia.Segment(segment: segment, map: map, isDiscontinuous: isDiscontinuous))
        (self.duration, range, isDiscontinuous, isGap) = (nil, nil, false, false)
        guard sequence < UInt64.max else { throw StreamFlaw("its sequence numbers are impossible") }
        sequence += 1
    }

    private mutating func readRendition(_ attributes: HLSAttributes) throws(StreamFlaw) {
        guard let kind = attributes["TYPE"].flatMap(HLSMaster.Rendition.Kind.init(rawValue:)) else { return }
        guard let group = attributes["GROUP-ID"], let name = attributes["NAME"] else {
            throw StreamFlaw("EXT-X-MEDIA lacks GROUP-ID or NAME")
        }
        guard master.renditions.count < HLSPlaylist.mostVariants else { throw StreamFlaw("it has too many renditions") }
        let uri = attributes["URI"]
        master.renditions.append(
            HLSMaster.Rendition(
                kind: kind, group: group, name: name, language: attributes["LANGUAGE"],
                isDefault: attributes["DEFAULT"] == "YES", isForced: attributes["FORCED"] == "YES",
                address: try uri.map { (uri) throws(StreamFlaw) in try resolved(uri) }))
    }

    private mutating func readKey(_ attributes: HLSAttributes) throws(StreamFlaw) {
        guard let method = attributes["METHOD"] else { throw StreamFlaw("EXT-X-KEY has no METHOD") }
        guard method != "NONE" else {
            keys = [:]
            return
        }
        let format = attributes["KEYFORMAT"] ?? HLSKeyLine.identity
        var address: WebAddress?
        if method == "AES-128", format == HLSKeyLine.identity {
            guard let uri = attributes["URI"] else { throw StreamFlaw("EXT-X-KEY has no URI") }
            address = try resolved(uri)
        }
        let vector = try attributes["IV"].map { (text) throws(StreamFlaw) in try HLSNumber.vector(text) }
        keys[format] = HLSKeyLine(method: method, format: format, address: address, vector: vector)
    }

    private mutating func readMap(_ attributes: HLSAttributes) throws(StreamFlaw) {
        guard let uri = attributes["URI"] else { throw StreamFlaw("EXT-X-MAP has no URI") }
        var range: ByteRange?
        if let text = attributes["BYTERANGE"] {
            let (length, start) = try HLSNumber.range(Array(text.utf8)[...])
            let first = start ?? 0
            guard length > 0, first <= Int64.max - length else { throw StreamFlaw("EXT-X-MAP has an impossible range") }
            range = ByteRange(first, first + length)
        }
        let key = try keys.key(of: nil)
        map = HLSMedia.Map(address: try resolved(uri), range: range, key: key)
    }

    consuming func finish() throws(StreamFlaw) -> HLSPlaylist {
        guard !(isMaster && isMedia) else { throw StreamFlaw("it has both variants and segments") }
        guard isMaster else {
            guard isMedia else { throw StreamFlaw("it has neither variants nor segments") }
            return .media(media)
        }
        guard !master.variants.isEmpty else { throw StreamFlaw("it has no variant") }
        master.variables = variables.values
        return .master(master)
    }
}

/// An EXT-X-KEY in force.
struct HLSKeyLine {
    static let identity = "identity"

    var method: String
    var format: String
    var address: WebAddress?
    var vector: [UInt8]?
}

extension [String: HLSKeyLine] {
    /// The key of the segment with this media sequence number; of an initialization without one.
    ///
    /// Throws where only systems for digital rights have a key.
    func key(of number: UInt64?) throws(StreamFlaw) -> StreamSegment.Key? {
        guard !isEmpty else { return nil }
        if let line = self[HLSKeyLine.identity], line.method == "AES-128", let address = line.address {
            // RFC 8216 §5.2: the number as 16 bytes, big-endian.
            let vector =
                line.vector
                ?? number.map { number in
                    [UInt8](repeating: 0, count: 8)
                        + (0..<8).map { UInt8(truncatingIfNeeded: number >> UInt64(56 - 8 * $0)) }
                }
            // RFC 8216 §4.3.2.5.
            guard let vector else { throw StreamFlaw("an encrypted EXT-X-MAP has no IV") }
            return StreamSegment.Key(address: address, initializationVector: vector)
        }
        let line = self[HLSKeyLine.identity] ?? self.min { $0.key < $1.key }?.value
        var flaw = StreamFlaw(
            "it is protected by \(Self.name(of: line)), which is not supported")
        flaw.isProtected = true
        throw flaw
    }

    private static func name(of line: HLSKeyLine?) -> String {
        guard let line else { return "an unknown system" }
        let system: String? =
            line.format == HLSKeyLine.identity
            ? nil
            : ProtectionSystem.name(of: line.format)
                ?? (line.format.lowercased() == "com.apple.streamingkeydelivery"
                    ? "FairPlay"
                    : line.format.lowercased() == "com.microsoft.playready"
                        ? "PlayReady" : "the system \(line.format.prefix(80))")
        return system.map { "\($0) (DRM, \(line.method.prefix(40)))" } ?? "the method \(line.method.prefix(40))"
    }
}

extension HLSMaster.Variant {
    init(_ attributes: HLSAttributes, _ address: WebAddress) throws(StreamFlaw) {
        guard let bandwidth = attributes["BANDWIDTH"].flatMap({ Int64($0) }), bandwidth >= 0 else {
            throw StreamFlaw("EXT-X-STREAM-INF has no BANDWIDTH")
        }
        let size = attributes["RESOLUTION"]?.split(separator: "x").map { Int($0) } ?? []
        let isSize = size.count == 2 && size.allSatisfy { 1...100_000 ~= $0 ?? 0 }
        self.init(
            address: address, bandwidth: bandwidth, codecs: attributes["CODECS"], width: isSize ? size[0] : nil,
            height: isSize ? size[1] : nil, frameRate: attributes["FRAME-RATE"], audio: attributes["AUDIO"],
            video: attributes["VIDEO"], subtitles: attributes["SUBTITLES"])
    }
}
