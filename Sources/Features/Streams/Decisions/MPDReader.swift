import PawlBase
import PawlXML

/// Reads the levels of an MPD, each of which inherits from the one above.
struct MPDReader {
    /// What a level hands down.
    struct Level {
        var bases: [WebAddress]
        var hasBaseURL = false
        var segmentation: MPDSegmentation?
        /// Of an AdaptationSet: those that its representations may have themselves.
        var attributes: [String: String] = [:]
        var protection: [String] = []
    }

    private(set) var unsupported: [String] = []
    private var left: Int

    init(most: Int) { left = most }

    /// The most addresses of one segment.
    private static let mostBases = 4

    // MARK: times

    /// The start and the duration of each Period, in microseconds (ISO/IEC 23009-1 §5.3.2.1).
    static func times(_ periods: [XMLElement], total: String?) throws(StreamFlaw) -> [(start: Int64, duration: Int64?)]
    {
        let total = try time(total)
        var times: [(start: Int64, duration: Int64?)] = []
        for (index, period) in periods.enumerated() {
            let before = times.last.flatMap { time in time.duration.map { time.start.addingClamped($0) } }
            guard let start = try time(period.attributes["start"]) ?? (index == 0 ? 0 : before) else {
                throw StreamFlaw("nothing tells when its Period \(index + 1) begins")
            }
            if let last = times.last {
                guard start >= last.start else {
                    throw StreamFlaw("its Period \(index + 1) begins before the one in front")
                }
                times[index - 1].duration = last.duration ?? (start - last.start)
            }
            times.append((start, try time(period.attributes["duration"])))
        }
        if let last = times.last, last.duration == nil, let total, total >= last.start {
            times[times.count - 1].duration = total - last.start
        }
        return times
    }

    private static func time(_ text: String?) throws(StreamFlaw) -> Int64? {
        guard let text else { return nil }
        guard let found = MPDNumbers.duration(text) else {
            throw StreamFlaw("the duration \(Redaction.printable(text)) cannot be read")
        }
        return found
    }

    // MARK: levels

    /// What `element` hands down, with what it inherits itself.
    func level(_ element: XMLElement, in above: Level) throws(StreamFlaw) -> Level {
        var level = above
        let written = element.children("BaseURL").map(\.trimmedText)
        if !written.isEmpty {
            level.bases = try Self.bases(written, in: above.bases)
            level.hasBaseURL = true
        }
        level.segmentation = try MPDSegmentation.read(element, inheriting: above.segmentation)
        level.protection += Self.protection(element)
        return level
    }

    /// Several at one level are the same content at different places.
    private static func bases(_ texts: [String], in above: [WebAddress]) throws(StreamFlaw) -> [WebAddress] {
        var bases: [WebAddress] = []
        var flaw: StreamFlaw?
        for base in above {
            for text in texts.prefix(mostBases) {
                do throws(StreamFlaw) {
                    let address = try MPDSegments.address(text, in: base)
                    if !bases.contains(address) { bases.append(address) }
                } catch { flaw = flaw ?? error }
            }
        }
        if bases.isEmpty, let flaw { throw flaw }
        return Array(bases.prefix(mostBases))
    }

    private static func protection(_ element: XMLElement) -> [String] {
        let found = element.children("ContentProtection")
        let names = found.compactMap { ProtectionSystem.name(of: $0.attributes["schemeIdUri"] ?? "") }
        // The scheme of encryption, such as cenc.
        let scheme = found.compactMap { $0.attributes["value"] }.first ?? "an unknown system"
        return found.isEmpty || !names.isEmpty ? names : [Redaction.printable(String(scheme.prefix(40)))]
    }

    // MARK: sets

    mutating func sets(_ period: XMLElement, in above: Level) throws(StreamFlaw) -> [MPDDocument.AdaptationSet] {
        let level = try level(period, in: above)
        var sets: [MPDDocument.AdaptationSet] = []
        for element in period.children("AdaptationSet") {
            try MPDDocument.refuseLink(element)
            guard isUnderstood(element) else { continue }
            let set = try set(element, in: level)
            if !set.representations.isEmpty { sets.append(set) }
        }
        return sets
    }

    private mutating func set(_ element: XMLElement, in above: Level) throws(StreamFlaw) -> MPDDocument.AdaptationSet {
        var level = try level(element, in: above)
        level.attributes = element.attributes
        var representations: [MPDDocument.Representation] = []
        for found in element.children("Representation") where isUnderstood(found) {
            left -= 1
            guard left >= 0 else { throw StreamFlaw("it has too many Representations") }
            representations.append(try representation(found, in: level))
        }
        let roles = element.children("Role").compactMap { $0.attributes["value"] }
        let content = representations.first.flatMap { first in
            Self.content(element.attributes["contentType"], first.mediaType, first.codecs)
        }
        // Undetermined, as packagers write it.
        let language = element.attributes["lang"].flatMap { $0.isEmpty ? nil : $0 }
        return MPDDocument.AdaptationSet(
            content: content, language: language == "und" ? nil : language, label: element.child("Label")?.trimmedText,
            roles: Set(roles), isSpecial: element.child("Accessibility") != nil, representations: representations)
    }

    private func representation(
        _ element: XMLElement, in above: Level
    ) throws(StreamFlaw) -> MPDDocument.Representation {
        let level = try level(element, in: above)
        func attribute(_ name: String) -> String? { element.attributes[name] ?? above.attributes[name] }
        func number(_ name: String) -> Int64 { MPDNumbers.number(attribute(name)) ?? 0 }
        return MPDDocument.Representation(
            id: element.attributes["id"] ?? "", bandwidth: number("bandwidth"), width: number("width"),
            height: number("height"), mediaType: attribute("mimeType").flatMap(MediaType.name) ?? "",
            codecs: attribute("codecs"), protection: level.protection, bases: level.bases,
            hasBaseURL: level.hasBaseURL, segmentation: level.segmentation)
    }

    /// Whether nothing is essential of an element that is not supported (ISO/IEC 23009-1 §5.8.4.8).
    private mutating func isUnderstood(_ element: XMLElement) -> Bool {
        if element.attributes["dependencyId"] != nil {
            leaveOut("layers of a scalable codec")
            return false
        }
        let schemes = element.children("EssentialProperty").map { $0.attributes["schemeIdUri"] ?? "" }
        // Colours are described in the pictures too.
        let unknown = schemes.filter { !$0.utf8.starts(with: "urn:mpeg:mpegB:cicp:".utf8) }
        for scheme in unknown { leaveOut("the property \(Redaction.printable(String(scheme.prefix(100))))") }
        return unknown.isEmpty
    }

    private mutating func leaveOut(_ feature: String) {
        if unsupported.count < 16, !unsupported.contains(feature) { unsupported.append(feature) }
    }

    private static func content(_ stated: String?, _ mediaType: String, _ codecs: String?) -> StreamTrack.Content? {
        let major = stated ?? mediaType.split(separator: "/").first.map(String.init) ?? ""
        switch major {
        case "video": return .video
        case "audio": return .audio
        case "text": return .subtitles
        case "application":
            let isTimed = ["stpp", "wvtt"].contains { (codecs ?? "").utf8.starts(with: $0.utf8) }
            return isTimed || mediaType == "application/ttml+xml" ? .subtitles : nil
        default: return nil
        }
    }
}
