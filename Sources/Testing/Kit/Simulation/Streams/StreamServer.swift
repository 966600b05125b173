import PawlBase
import PawlStreams

/// The server of a simulated stream: its playlist with signed addresses, and its segments.
struct StreamServer {
    struct Version {
        /// The media sequence number of the first segment.
        var first: Int
        var segments: [[UInt8]]
        /// Places that the author declares missing.
        var gaps: Set<Int>

        /// What a file without some of its segments has.
        func bytes(without left: Set<Int>) -> [UInt8] {
            segments.indices.flatMap { left.contains($0) ? [] : segments[$0] }
        }
    }

    private(set) var versions: [Version]
    /// Addresses with another one have expired.
    private(set) var signature = 0
    /// Numbers of segments that are not there now, and of those that never come back.
    var vanished: Set<Int> = []
    private(set) var gone: Set<Int> = []
    /// How often a segment is another file, by its number.
    var wrong: [Int: Int] = [:]
    let isEncrypted: Bool
    /// The status of an expired address.
    let expired: Int

    var present: Version { versions[versions.count - 1] }

    init(_ dice: inout Dice) {
        let count = dice.number(1...14)
        let declared = dice.chance(0.15) && count > 1 ? Set([dice.below(count)]) : []
        versions = [Version(first: dice.below(3), segments: Self.segments(count, &dice), gaps: declared)]
        isEncrypted = dice.chance(0.3)
        expired = dice.pick([401, 403, 404, 410])
        if dice.chance(0.1) { gone = [versions[0].first + dice.below(count)] }
    }

    private static func segments(_ count: Int, _ dice: inout Dice) -> [[UInt8]] {
        (0..<count).map { _ in
            (0..<dice.number(8...24)).map { _ in UInt8(truncatingIfNeeded: dice.next()) }
        }
    }

    mutating func sign() { signature += 1 }

    /// Other bytes under the same names and numbers.
    mutating func replace(_ dice: inout Dice) {
        var version = present
        version.segments = Self.segments(version.segments.count, &dice)
        versions.append(version)
        sign()
    }

    mutating func renumber() {
        var version = present
        version.first += 1
        versions.append(version)
        sign()
    }

    /// One segment more or less.
    mutating func change(_ dice: inout Dice) {
        var version = present
        if version.segments.count > 1, version.gaps.isEmpty, dice.chance(0.5) {
            version.segments.removeLast()
        } else {
            version.segments += Self.segments(1, &dice)
        }
        versions.append(version)
        sign()
    }

    /// What is left of the time with trouble: only what is gone for good.
    mutating func calmDown() { (vanished, wrong) = ([], [:]) }

    var playlist: StreamFile? {
        let version = present
        var text = "#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXT-X-MEDIA-SEQUENCE:\(version.first)\n"
        for index in version.segments.indices {
            if isEncrypted, index.isMultiple(of: 4) {
                text += "#EXT-X-KEY:METHOD=AES-128,URI=\"k\(index / 4)?sig=\(signature)\"\n"
            }
            if version.gaps.contains(index) { text += "#EXT-X-GAP\n" }
            text += "#EXTINF:2,\ns\(version.first + index).ts?sig=\(signature)\n"
        }
        let address = WebAddress(scheme: .http, host: "h", port: 80, path: "/show.m3u8", query: nil)
        let parsed = try? HLSPlaylist.parse(Array((text + "#EXT-X-ENDLIST\n").utf8), from: address)
        guard case .media(let media) = parsed else { return nil }
        let track = try? StreamTrack(playlist: address).with(media)
        return track.flatMap { try? StreamFile.files(of: StreamPlan(tracks: [$0])) }?.first
    }

    func isCurrent(_ address: WebAddress) -> Bool { address.query == "sig=\(signature)" }

    /// The bytes of a segment whose address has not expired; `nil` where it is not there.
    func bytes(of segment: StreamSegment) -> [UInt8]? {
        let number = Int(segment.number)
        let index = number - present.first
        guard present.segments.indices.contains(index), !vanished.contains(number), !gone.contains(number) else {
            return nil
        }
        return present.segments[index]
    }
}

/// The disk of a simulated stream: one part file, and its mark in the journal.
struct StreamDisk {
    private(set) var bytes: [UInt8] = []
    private(set) var journal: (text: String, done: Int)?
    private var durable: (count: Int, journal: (text: String, done: Int)?) = (0, nil)
    /// What a power cut or others have changed: what was there before counts no more.
    private(set) var isTouched = false

    mutating func write(_ new: [UInt8], at offset: Int) { bytes = bytes.prefix(offset) + new }

    mutating func record(_ mark: StreamMark, done: Int) { journal = (mark.text, done) }

    mutating func sync() { durable = (bytes.count, journal) }

    mutating func truncate(to count: Int) {
        bytes = Array(bytes.prefix(count))
        durable.count = min(durable.count, count)
    }

    mutating func reset() {
        (bytes, journal, durable, isTouched) = ([], nil, (0, nil), false)
    }

    mutating func opened() { isTouched = false }

    // MARK: what happens between two processes

    /// The journal may be older or newer than the bytes that are left.
    mutating func cutPower(_ dice: inout Dice) {
        if dice.chance(0.5) { journal = durable.journal }
        bytes = Array(bytes.prefix(durable.count))
        isTouched = true
    }

    mutating func cut(_ dice: inout Dice) {
        truncate(to: dice.below(bytes.count))
        isTouched = true
    }

    mutating func damage(_ dice: inout Dice) {
        bytes[dice.below(bytes.count)] ^= UInt8(dice.number(1...255))
        isTouched = true
    }
}
