/// Apple's XML property lists: as much of XML as they use, in UTF-8.
///
/// A document type is skipped and may define nothing, so no entity can grow.
struct XMLPropertyListReader {
    private let bytes: [UInt8]
    private var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private typealias Fault = PropertyList.Fault
    private static let damaged = PropertyList.Fault(words: "the XML property list is damaged")

    mutating func read() throws(PropertyList.Fault) -> PropertyList {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        try skipMiscellany()
        guard try tag() == Tag(name: "plist", isEmpty: false) else {
            throw Fault(words: "it is no property list")
        }
        let value = try value(try openingTag(), depth: 0)
        try close("plist")
        try skipMiscellany()
        guard place == bytes.count else { throw Self.damaged }
        return value
    }

    private struct Tag: Hashable {
        let name: String
        /// `<name/>`.
        let isEmpty: Bool
    }

    private mutating func value(_ tag: Tag, depth: Int) throws(PropertyList.Fault) -> PropertyList {
        guard depth < PropertyList.Limit.depth else { throw Self.damaged }
        switch tag.name {
        case "true", "false":
            if !tag.isEmpty { try close(tag.name) }
            return .boolean(tag.name == "true")
        case "array": return .array(tag.isEmpty ? [] : try array(depth: depth + 1))
        case "dict": return try tag.isEmpty ? .dictionary([:]) : dictionary(depth: depth + 1)
        case "string": return .string(try text(tag))
        case "data":
            guard let data = Base64.decode(try text(tag).utf8.filter { !$0.isWhiteSpace }) else {
                throw Self.damaged
            }
            return .data(data)
        case "integer":
            guard let number = Self.integer(try text(tag)) else { throw Self.damaged }
            return .integer(number)
        case "real":
            guard let number = Double(String(decoding: trimmed(try text(tag)), as: UTF8.self)) else {
                throw Self.damaged
            }
            return .real(number)
        case "date":
            guard let seconds = UnixTime(internetDate: trimmed(try text(tag)))?.seconds else {
                throw Self.damaged
            }
            return .date(Double(seconds - 978_307_200))
        default: throw Self.damaged
        }
    }

    private mutating func array(depth: Int) throws(PropertyList.Fault) -> [PropertyList] {
        var values: [PropertyList] = []
        while try !closes("array") { values.append(try value(try openingTag(), depth: depth)) }
        return values
    }

    /// In XML a reference is a dictionary with this key alone.
    private mutating func dictionary(depth: Int) throws(PropertyList.Fault) -> PropertyList {
        var values: [String: PropertyList] = [:]
        while try !closes("dict") {
            let tag = try openingTag()
            guard tag.name == "key" else { throw Self.damaged }
            let key = try text(tag)
            values[key] = try value(try openingTag(), depth: depth)
        }
        if values.count == 1, let number = values["CF$UID"]?.integer, let place = Int(exactly: number),
            place >= 0
        {
            return .reference(place)
        }
        return .dictionary(values)
    }
}

// Tags and text.
extension XMLPropertyListReader {
    private func starts(_ text: StaticString) -> Bool {
        let rest = bytes.count - place
        guard rest >= text.utf8CodeUnitCount else { return false }
        return bytes[place..<(place + text.utf8CodeUnitCount)].elementsEqual("\(text)".utf8)
    }

    /// Moves behind the next `ending`.
    private mutating func skip(behind ending: StaticString) throws(PropertyList.Fault) {
        while place < bytes.count {
            if starts(ending) {
                place += ending.utf8CodeUnitCount
                return
            }
            place += 1
        }
        throw Self.damaged
    }

    private mutating func skipMiscellany() throws(PropertyList.Fault) {
        while place < bytes.count {
            if bytes[place].isWhiteSpace {
                place += 1
            } else if starts("<?") {
                try skip(behind: "?>")
            } else if starts("<!--") {
                try skip(behind: "-->")
            } else if starts("<!DOCTYPE") {
                let start = place
                try skip(behind: ">")
                guard !bytes[start..<place].contains(.leftBracket) else { throw Self.damaged }
            } else {
                return
            }
        }
    }

    /// An opening tag; what attributes say is of no interest.
    private mutating func tag() throws(PropertyList.Fault) -> Tag {
        guard place < bytes.count, bytes[place] == .less else { throw Fault(words: "it is no property list") }
        let start = place + 1
        try skip(behind: ">")
        let inside = bytes[start..<(place - 1)]
        let name = inside.prefix { $0.isLetter }
        return Tag(name: String(decoding: name, as: UTF8.self), isEmpty: inside.last == .slash)
    }

    private mutating func openingTag() throws(PropertyList.Fault) -> Tag {
        try skipMiscellany()
        return try tag()
    }

    private mutating func closes(_ name: String) throws(PropertyList.Fault) -> Bool {
        try skipMiscellany()
        guard starts("</") else { return false }
        let start = place + 2
        try skip(behind: ">")
        guard bytes[start..<(place - 1)].trimmed({ $0.isWhiteSpace }).elementsEqual(name.utf8) else {
            throw Self.damaged
        }
        return true
    }

    private mutating func close(_ name: String) throws(PropertyList.Fault) {
        guard try closes(name) else { throw Self.damaged }
    }

    private mutating func text(_ tag: Tag) throws(PropertyList.Fault) -> String {
        guard !tag.isEmpty else { return "" }
        var text: [UInt8] = []
        while place < bytes.count {
            if starts("<![CDATA[") {
                let start = place + 9
                try skip(behind: "]]>")
                text += bytes[start..<max(start, place - 3)]
            } else if starts("<!--") {
                try skip(behind: "-->")
            } else if bytes[place] == .less {
                try close(tag.name)
                return String(decoding: text, as: UTF8.self)
            } else if bytes[place] == UInt8(ascii: "&") {
                text += try entity()
            } else {
                text.append(bytes[place])
                place += 1
            }
        }
        throw Self.damaged
    }

    private mutating func entity() throws(PropertyList.Fault) -> [UInt8] {
        let rest = bytes[(place + 1)...].prefix(12)
        guard let end = rest.firstIndex(of: .semicolon) else { throw Self.damaged }
        place = end + 1
        let name = String(decoding: rest[..<end], as: UTF8.self)
        switch name {
        case "lt": return [.less]
        case "gt": return [.greater]
        case "amp": return [UInt8(ascii: "&")]
        case "quot": return [.quote]
        case "apos": return [.apostrophe]
        default: break
        }
        let number =
            name.hasPrefix("#x")
            ? UInt32(name.dropFirst(2), radix: 16)
            : name.hasPrefix("#") ? UInt32(name.dropFirst()) : nil
        guard let scalar = number.flatMap(Unicode.Scalar.init) else { throw Self.damaged }
        return Array(String(Character(scalar)).utf8)
    }

    private func trimmed(_ text: String) -> ArraySlice<UInt8> {
        Array(text.utf8)[...].trimmed { $0.isWhiteSpace }
    }
}

// Values.
extension XMLPropertyListReader {
    private static func integer(_ text: String) -> Int64? {
        let text = String(decoding: Array(text.utf8).trimmed { $0.isWhiteSpace }, as: UTF8.self)
        let digits = text.lowercased()
        return digits.hasPrefix("0x") ? Int64(digits.dropFirst(2), radix: 16) : Int64(text)
    }
}

extension UnixTime {
    /// Reads `2026-11-21T12:00:00Z`, the only form that property lists have.
    fileprivate init?(internetDate text: ArraySlice<UInt8>) {
        let fields = Array(text)
        guard fields.count == 20, fields[4] == .dash, fields[7] == .dash, fields[10] == UInt8(ascii: "T"),
            fields[13] == .colon, fields[16] == .colon, fields[19] == UInt8(ascii: "Z"),
            let year = fields[0..<4].decimalNumber, let month = fields[5..<7].decimalNumber,
            let day = fields[8..<10].decimalNumber, let hour = fields[11..<13].decimalNumber,
            let minute = fields[14..<16].decimalNumber, let second = fields[17..<19].decimalNumber,
            1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second < 61
        else { return nil }
        self.init(
            seconds: Self.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60
                + second
        )
    }
}
