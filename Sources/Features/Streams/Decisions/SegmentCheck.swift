import PawlBase

/// Whether bytes are the segment that they should be.
///
/// A server that answers with an error page, another file or a piece of the segment often says 200: what is joined is
/// decided by the bytes. The media type that it states does not matter.
package enum SegmentCheck {
    /// Why the decrypted bytes of a segment cannot be joined, as a part of a sentence; `nil` if they can.
    ///
    /// `container` is `nil` while it is not known. A segment of a part without an initialization has its own:
    /// `isSelfInitializing`. `duration` is what the playlist states, in microseconds; 0 if the response has
    /// stated its length, since what playlists state is often too large.
    package static func failure<Bytes: RandomAccessCollection<UInt8>>(
        of bytes: Bytes, container: StreamTrack.Container?, isInitialization: Bool, isSelfInitializing: Bool = false,
        duration: Int64 = 0
    ) -> String? where Bytes.Index == Int {
        guard !bytes.isEmpty else { return "it is empty" }
        if let document = SegmentText.document(bytes) { return "it is \(document)" }
        switch container ?? self.container(of: bytes) {
        case .transportStream: return transportStreamFailure(bytes) ?? durationFailure(bytes, stated: duration)
        case .fragments where isInitialization: return initializationFailure(bytes)
        case .fragments: return fragmentFailure(bytes, isSelfInitializing: isSelfInitializing)
        case .packedAudio where isPackedAudio(bytes): return PackedAAC.failure(bytes)
        case .packedAudio: return "it does not begin with a frame of AAC, MP3 or AC-3"
        case .webVTT: return SegmentText.isWebVTT(bytes) ? nil : "it does not begin with WEBVTT"
        case .bytes: return nil
        case nil: return "it is neither a transport stream, nor MP4, nor audio, nor subtitles"
        }
    }

    /// What the first bytes of a segment show; `nil` if it is none of the known formats.
    ///
    /// 376 bytes are enough.
    package static func container<Bytes: RandomAccessCollection<UInt8>>(of bytes: Bytes) -> StreamTrack.Container?
    where Bytes.Index == Int {
        if SegmentText.isWebVTT(bytes) { return .webVTT }
        let start = bytes.startIndex
        if bytes.count >= packet, bytes[start] == sync, bytes.count < packet * 2 || bytes[start + packet] == sync {
            return .transportStream
        }
        let boxes = MP4Boxes(bytes)
        if let code = boxes.number(start + 4, width: 4, in: start..<bytes.endIndex),
            firstBoxes.contains(BoxType(code: UInt32(truncatingIfNeeded: code)))
        {
            return .fragments
        }
        if isPackedAudio(bytes) { return .packedAudio }
        return webMStarts.contains { bytes.starts(with: $0) } ? .bytes : nil
    }

    private static let packet = 188
    private static let sync: UInt8 = 0x47
    /// With which an initialization or a fragment begins.
    private static let firstBoxes: Set<BoxType> = ["ftyp", "moov", "styp", "sidx", "ssix", "emsg", "prft", "moof"]
    /// The EBML header and a cluster (RFC 9559).
    private static let webMStarts: [[UInt8]] = [[0x1A, 0x45, 0xDF, 0xA3], [0x1F, 0x43, 0xB6, 0x75]]

    private static func transportStreamFailure<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> String?
    where Bytes.Index == Int {
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: packet) where bytes[start] != sync {
            let offset = start - bytes.startIndex
            return offset == 0
                ? "it does not begin with a packet of a transport stream"
                : "the transport stream has no packet at byte \(offset)"
        }
        guard bytes.count % packet == 0 else { return "its \(bytes.count) bytes are no multiple of \(packet)" }
        return nil
    }

    /// A transport stream does not say where it ends: one that was cut between two packets is shorter than stated.
    ///
    /// Playlists round, and the last frames of one segment may be in the next, so a third less is no flaw.
    private static func durationFailure<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, stated: Int64
    ) -> String? where Bytes.Index == Int {
        guard stated >= 1_000_000, let found = TransportStreamTimes.duration(of: bytes), found < stated / 10 * 7 else {
            return nil
        }
        func seconds(_ duration: Int64) -> String { "\(duration / 1_000_000).\(duration / 100_000 % 10) s" }
        return "it ends after \(seconds(found)), where the playlist states \(seconds(stated))"
    }

    private static func isPackedAudio<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> Bool
    where Bytes.Index == Int {
        let frame = bytes.dropFirst(ID3Tag.length(in: bytes)).prefix(2)
        guard let first = frame.first, let second = frame.last, frame.count == 2 else { return false }
        // ADTS and MPEG audio begin with eleven set bits, (E-)AC-3 with 0x0B77.
        return first == 0xFF && second & 0xE0 == 0xE0 || first == 0x0B && second == 0x77
    }
}

// MARK: MP4

extension SegmentCheck {
    private static let damaged = "the boxes of the MP4 do not fill it"

    private static func initializationFailure<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> String?
    where Bytes.Index == Int {
        let boxes = MP4Boxes(bytes)
        guard let types = boxes.tiling(bytes.startIndex..<bytes.endIndex)?.map(\.type) else { return damaged }
        guard types.contains("moov") else { return "it has no moov box" }
        guard !types.contains("moof"), !types.contains("mdat") else { return "it has more than an initialization" }
        return protection(of: bytes)
    }

    private static func fragmentFailure<Bytes: RandomAccessCollection<UInt8>>(
        _ bytes: Bytes, isSelfInitializing: Bool
    ) -> String? where Bytes.Index == Int {
        let boxes = MP4Boxes(bytes)
        guard let types = boxes.tiling(bytes.startIndex..<bytes.endIndex)?.map(\.type) else { return damaged }
        let fragments = types.filter { $0 == "moof" || $0 == "mdat" }
        if types.contains("moov") {
            guard isSelfInitializing else { return "it begins another MP4, and is no fragment of this one" }
            guard !fragments.isEmpty else { return "it has an initialization only" }
            return protection(of: bytes)
        }
        guard !isSelfInitializing else { return "it has no moov box" }
        guard !types.contains("ftyp") else { return "it begins another MP4, and is no fragment of this one" }
        guard !fragments.isEmpty else { return "it has no moof box" }
        // Each moof describes what is in the mdat behind it.
        guard fragments.first == "moof", fragments.last == "mdat",
            !zip(fragments, fragments.dropFirst()).contains(where: { $0 == "moof" && $1 == "moof" })
        else { return "it has a moof box without an mdat box behind it" }
        return nil
    }

    /// By which scheme and for which systems an initialization's tracks are encrypted, as a part of a sentence; `nil` if
    /// they are not.
    package static func protection<Bytes: RandomAccessCollection<UInt8>>(of bytes: Bytes) -> String?
    where Bytes.Index == Int {
        let boxes = MP4Boxes(bytes)
        let all = bytes.startIndex..<bytes.endIndex
        guard let tables = boxes.boxes(["moov", "trak", "mdia", "minf", "stbl", "stsd"], in: all) else {
            return "its moov box is damaged"
        }
        for table in tables {
            // A version and a count are in front of the entries.
            let start = min(table.content.lowerBound + 8, table.content.upperBound)
            guard let entries = boxes.tiling(start..<table.content.upperBound) else { return "its stsd box is damaged" }
            guard let entry = entries.first(where: { encrypted.contains($0.type) }) else { continue }
            let scheme = scheme(bytes[entry.content]) ?? entry.type.text
            let systems = (boxes.boxes(["moov", "pssh"], in: all) ?? []).compactMap { system(bytes[$0.content]) }
            let names = systems.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            return "it is encrypted by DRM (\(([scheme] + names).joined(separator: ", ")))"
        }
        return nil
    }

    private static let encrypted: Set<BoxType> = ["encv", "enca", "enct", "encs", "encf", "encm", "drmi", "drms"]

    /// The scheme in an entry's `schm` box, such as `cenc`; where that box is depends on the kind of the entry.
    private static func scheme(_ entry: some RandomAccessCollection<UInt8>) -> String? {
        let bytes = Array(entry.prefix(4096))
        let name = Array("schm".utf8)
        guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: name) }) else { return nil }
        let scheme = bytes[place...].dropFirst(8).prefix(4)
        return scheme.count == 4 && scheme.allSatisfy { $0.isLetter || $0.isDigit }
            ? String(decoding: scheme, as: UTF8.self) : nil
    }

    private static func system(_ box: some RandomAccessCollection<UInt8>) -> String? {
        let identifier = box.dropFirst(4).prefix(16).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 0xF, radix: 16)
        }
        return ProtectionSystem.name(of: identifier.joined())
    }
}
