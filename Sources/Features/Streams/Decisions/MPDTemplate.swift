import PawlBase

/// A URL with identifiers such as `$Number%05d$`, for which values are put (ISO/IEC 23009-1 §5.3.9.4.4).
struct MPDTemplate: Hashable, Sendable {
    struct Values: Hashable, Sendable {
        /// A representation's `id`.
        var representation = ""
        var bandwidth: Int64 = 0
        var number: Int64 = 0
        var time: Int64 = 0
        var subNumber: Int64 = 1
    }

    private enum Name: String {
        case representation = "RepresentationID"
        case bandwidth = "Bandwidth"
        case number = "Number"
        case time = "Time"
        case subNumber = "SubNumber"
    }

    private enum Piece: Hashable {
        case text(String)
        case value(Name, width: Int)
    }

    private var pieces: [Piece] = []

    private static let mostPieces = 64
    private static let longestText = 8192

    init(_ text: String) throws(StreamFlaw) {
        let parts = Array(text.utf8).pieces(between: UInt8(ascii: "$"))
        guard parts.count % 2 == 1, parts.count <= Self.mostPieces, text.utf8.count <= Self.longestText else {
            throw Self.flaw(text)
        }
        for (index, part) in parts.enumerated() {
            if index % 2 == 0 {
                pieces.append(.text(String(decoding: part, as: UTF8.self)))
            } else if part.isEmpty {
                pieces.append(.text("$"))
            } else {
                guard let value = Self.value(part) else { throw Self.flaw(text) }
                pieces.append(value)
            }
        }
    }

    private static func flaw(_ text: String) -> StreamFlaw {
        StreamFlaw("its template \(Redaction.address(text)) cannot be read")
    }

    /// `Number` or `Number%05d`.
    private static func value(_ part: ArraySlice<UInt8>) -> Piece? {
        let name = part.prefix { $0 != .percent }
        guard let identifier = Name(rawValue: String(decoding: name, as: UTF8.self)) else { return nil }
        guard let format = part[name.endIndex...].dropFirst().popping(last: UInt8(ascii: "d")) else {
            return name.count == part.count ? .value(identifier, width: 1) : nil
        }
        guard identifier != .representation, format.isEmpty || format.first == UInt8(ascii: "0"),
            let width = format.isEmpty ? 1 : format.decimalNumber, width <= 32
        else { return nil }
        return .value(identifier, width: Int(width))
    }

    func has(_ name: String) -> Bool {
        pieces.contains { if case .value(let found, _) = $0 { found.rawValue == name } else { false } }
    }

    func text(_ values: Values) -> String {
        var text = ""
        for piece in pieces {
            switch piece {
            case .text(let part): text += part
            case .value(.representation, _): text += values.representation
            case .value(.bandwidth, let width): text += Self.padded(values.bandwidth, width)
            case .value(.number, let width): text += Self.padded(values.number, width)
            case .value(.time, let width): text += Self.padded(values.time, width)
            case .value(.subNumber, let width): text += Self.padded(values.subNumber, width)
            }
        }
        return text
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension ArraySlice<UInt8> {
    /// Without its last byte; `nil` if that is another.
    fileprivate func popping(last byte: UInt8) -> ArraySlice<UInt8>? { last == byte ? dropLast() : nil }
}
