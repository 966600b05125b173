package import PawlBase
import PawlXML

/// Where a presentation that is running tells the time (ISO/IEC 23009-1 §5.8.4.11, §5.8.5.7).
package enum MPDTiming: Hashable, Sendable {
    /// It was that time when the document was made.
    case time(UnixTime)
    /// A URL whose response tells it: as text, else in its field Date.
    case response(WebAddress, isText: Bool)

    private static let most = 4
    private static let schemes = [
        ("urn:mpeg:dash:utc:direct:", Scheme.direct), ("urn:mpeg:dash:utc:http-xsdate:", .text),
        ("urn:mpeg:dash:utc:http-iso:", .text), ("urn:mpeg:dash:utc:http-head:", .date),
    ]
    private enum Scheme { case direct, text, date }

    /// Those of a document that can be used, in the order of its author's preference; none of one that is not running.
    package static func list(_ bytes: [UInt8], at address: WebAddress) -> [MPDTiming] {
        guard let root = try? XMLElement.parse(bytes, within: MPDDocument.limits), root.name == "MPD",
            root.attributes["type"] == "dynamic"
        else { return [] }
        let found = root.children("UTCTiming").flatMap { element -> [MPDTiming] in
            let (name, value) = (element.attributes["schemeIdUri"] ?? "", element.attributes["value"] ?? "")
            guard let scheme = schemes.first(where: { name.utf8.starts(with: $0.0.utf8) })?.1 else { return [] }
            if scheme == .direct { return time(Array(value.utf8)).map { [.time($0)] } ?? [] }
            return value.split(whereSeparator: \.isWhitespace).compactMap { text in
                (try? MPDSegments.address(String(text), in: address)).map { .response($0, isText: scheme == .text) }
            }
        }
        return Array(found.prefix(most))
    }

    /// The time in the body of a response.
    package static func time(_ body: [UInt8]) -> UnixTime? {
        MPDNumbers.date(String(decoding: body.prefix(64), as: UTF8.self).split(whereSeparator: \.isWhitespace).joined())
    }
}
