import PawlBase
import PawlXML

/// How a representation is divided into segments: SegmentTemplate, SegmentList or SegmentBase, with what it inherits
/// (ISO/IEC 23009-1 §5.3.9).
struct MPDSegmentation: Hashable, Sendable {
    enum Kind: String, CaseIterable, Sendable {
        case template = "SegmentTemplate"
        case list = "SegmentList"
        case base = "SegmentBase"
    }

    /// An `S` of a timeline: `repeats + 1` segments of the same duration.
    struct Run: Hashable, Sendable {
        var time: Int64?
        var number: Int64?
        var duration: Int64
        /// Negative: until the next run, or the end of the Period.
        var repeats: Int64
        /// How many partial segments each of them has.
        var parts: Int64
    }

    /// A URL with a range: an Initialization or a SegmentURL.
    struct Reference: Hashable, Sendable {
        /// `nil` for the BaseURL itself.
        var url: String?
        var range: ByteRange?
    }

    var kind: Kind
    var attributes: [String: String]
    var initialization: Reference?
    var timeline: [Run]?
    var list: [Reference]?

    /// The one of an element, which inherits from the element's parent if it has the same kind.
    static func read(_ parent: XMLElement, inheriting above: MPDSegmentation?) throws(StreamFlaw) -> MPDSegmentation? {
        for kind in Kind.allCases {
            guard let element = parent.child(kind.rawValue) else { continue }
            try MPDDocument.refuseLink(element)
            var own = try MPDSegmentation(kind, element)
            if let above, above.kind == kind { own.inherit(above) }
            return own
        }
        return above
    }

    private init(_ kind: Kind, _ element: XMLElement) throws(StreamFlaw) {
        self.kind = kind
        attributes = element.attributes
        if let found = element.child("Initialization") {
            initialization = try Self.reference(found, url: "sourceURL", range: "range")
        }
        if let found = element.child("SegmentTimeline") {
            try MPDDocument.refuseLink(found)
            var runs: [Run] = []
            for run in found.children("S") { runs.append(try Self.run(run.attributes)) }
            timeline = runs
        }
        guard kind == .list else { return }
        var references: [Reference] = []
        for found in element.children("SegmentURL") {
            references.append(try Self.reference(found, url: "media", range: "mediaRange"))
        }
        if !references.isEmpty { list = references }
    }

    private mutating func inherit(_ above: MPDSegmentation) {
        attributes.merge(above.attributes) { own, _ in own }
        initialization = initialization ?? above.initialization
        timeline = timeline ?? above.timeline
        list = list ?? above.list
    }

    private static func reference(_ element: XMLElement, url: String, range: String) throws(StreamFlaw) -> Reference {
        let text = element.attributes[range]
        let parsed = text.flatMap(MPDNumbers.range)
        guard text == nil || parsed != nil else {
            throw StreamFlaw("the range \(Redaction.printable(text ?? "")) cannot be read")
        }
        return Reference(url: element.attributes[url], range: parsed)
    }

    private static func run(_ attributes: [String: String]) throws(StreamFlaw) -> Run {
        let isNegative = attributes["r"]?.utf8.first == .dash
        func optional(_ name: String) throws(StreamFlaw) -> Int64? {
            guard let text = attributes[name] else { return nil }
            guard let number = MPDNumbers.number(text) else { throw damaged }
            return number
        }
        guard let duration = try optional("d"), duration > 0 else { throw damaged }
        let parts = try optional("k") ?? 1
        guard 1...100_000 ~= parts else { throw damaged }
        return Run(
            time: try optional("t"), number: try optional("n"), duration: duration,
            repeats: isNegative ? -1 : try optional("r") ?? 0, parts: parts)
    }

    private static let damaged = StreamFlaw("its SegmentTimeline cannot be read")

    // MARK: numbers

    /// The number in an attribute, or the usual one if there is none.
    func number(_ name: String, usually usual: Int64) throws(StreamFlaw) -> Int64 {
        guard let text = attributes[name] else { return usual }
        guard let number = MPDNumbers.number(text) else {
            throw StreamFlaw("the \(name) of its \(kind.rawValue) is no number")
        }
        return number
    }

    func timescale() throws(StreamFlaw) -> Int64 {
        let found = try number("timescale", usually: 1)
        guard found > 0 else { throw StreamFlaw("the timescale of its \(kind.rawValue) is 0") }
        return found
    }

    /// The media time at which the Period begins, in microseconds.
    func offset() throws(StreamFlaw) -> Int64 {
        MPDNumbers.microseconds(try number("presentationTimeOffset", usually: 0), per: try timescale())
    }
}
