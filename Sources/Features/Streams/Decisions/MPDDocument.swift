package import PawlBase
import PawlXML

/// A Media Presentation Description (ISO/IEC 23009-1): what DASH has for a playlist.
package struct MPDDocument: Hashable, Sendable {
    struct Period: Hashable, Sendable {
        /// From 1.
        var number: Int
        /// In microseconds, of the presentation.
        var start: Int64
        /// In microseconds; `nil` if nothing tells.
        var duration: Int64?
        /// Its last segment is not there yet, and those are not there any more that end before this time, in microseconds.
        var earliest: Int64?
        var sets: [AdaptationSet]
    }

    /// Representations that are the same content in different qualities.
    struct AdaptationSet: Hashable, Sendable {
        /// `nil` for what is neither, such as thumbnails.
        var content: StreamTrack.Content?
        var language: String?
        var label: String?
        var roles: Set<String>
        /// Whether it is for some users only, such as a description of the pictures.
        var isSpecial: Bool
        var representations: [Representation]
    }

    struct Representation: Hashable, Sendable {
        var id: String
        var bandwidth: Int64
        var width: Int64
        var height: Int64
        /// In lower case.
        var mediaType: String
        var codecs: String?
        /// The names of the systems that encrypt it; empty for none.
        var protection: [String]
        /// Where relative URLs begin; the first is preferred.
        var bases: [WebAddress]
        var hasBaseURL: Bool
        var segmentation: MPDSegmentation?
    }

    /// At least one, in order.
    private(set) var periods: [Period]
    /// What was left out because it needs a feature that is not supported.
    private(set) var unsupported: [String]
    /// More segments follow, or may.
    package private(set) var isRunning = false
    /// Where it is requested again, if that is elsewhere (§5.15); the first is preferred.
    package private(set) var locations: [WebAddress] = []

    static let limits = XMLElement.Limits(length: 16 << 20, depth: 32, elements: 400_000)
    private static let mostPeriods = 1000
    private static let mostLocations = 4
    private static let mostRepresentations = 20_000

    /// Parses a document from that address, to which redirects may have led.
    ///
    /// `now`: the time at which a programme that is running is looked at; without it such a one is refused.
    package init(_ bytes: [UInt8], at address: WebAddress, now: UnixTime? = nil) throws(StreamFlaw) {
        let root: XMLElement
        do throws(XMLElement.Fault) { root = try XMLElement.parse(bytes, within: Self.limits) } catch {
            throw StreamFlaw(error.words)
        }
        guard root.name == "MPD" else { throw StreamFlaw("it is no MPD") }
        let clock = root.attributes["type"] == "dynamic" ? try MPDClock(root, now: now) : nil
        let elements = root.children("Period").filter { !Self.isEmptyLink($0) }
        guard elements.count <= Self.mostPeriods else {
            throw StreamFlaw("it has more than \(Self.mostPeriods) Periods")
        }
        var reader = MPDReader(most: Self.mostRepresentations)
        let level = try reader.level(root, in: MPDReader.Level(bases: [address]))
        let times = try MPDReader.times(elements, total: root.attributes["mediaPresentationDuration"])
        periods = []
        for (index, element) in elements.enumerated() {
            try Self.refuseLink(element)
            let sets = try reader.sets(element, in: level)
            // One that lasts no time is announced for later.
            guard !sets.isEmpty, times[index].duration != 0 else { continue }
            var period = Period(
                number: index + 1, start: times[index].start, duration: times[index].duration, sets: sets)
            guard clock?.limit(&period) ?? true else { continue }
            periods.append(period)
        }
        for element in root.children("Location").prefix(Self.mostLocations) {
            if let found = try? MPDSegments.address(element.trimmedText, in: address) { locations.append(found) }
        }
        if let clock { isRunning = !clock.hasEnd || periods.last?.earliest != nil }
        unsupported = reader.unsupported
        guard !periods.isEmpty else {
            throw StreamFlaw(unsupported.first.map { "it needs \($0)" } ?? "it has no content")
        }
    }

    /// Whether bytes begin as an MPD does; a few hundred are enough.
    package static func isLikely(_ bytes: some Collection<UInt8>) -> Bool {
        let text = UnicodeText.utf8(Array(bytes.prefix(4096)))
        guard text.drop(while: \.isWhiteSpace).first == .less else { return false }
        let name = SegmentText.rootName(text) ?? []
        return name.split(separator: .colon).last?.elementsEqual("MPD".utf8) ?? false
    }

    /// Elements that are elsewhere (xlink) are not fetched.
    static func refuseLink(_ element: XMLElement) throws(StreamFlaw) {
        guard element.attributes["href"] == nil else {
            throw StreamFlaw("its \(element.name) is in another document (xlink), which is not supported")
        }
    }

    private static func isEmptyLink(_ element: XMLElement) -> Bool {
        element.attributes["href"] == "urn:mpeg:dash:resolve-to-zero:2013"
    }
}
