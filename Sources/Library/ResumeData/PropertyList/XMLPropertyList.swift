import PawlBase
import PawlXML

/// Apple's XML property lists.
enum XMLPropertyList {
    private static let damaged = PropertyList.Fault(words: "the XML property list is damaged")

    static func read(_ bytes: [UInt8]) throws(PropertyList.Fault) -> PropertyList {
        let limits = XMLElement.Limits(
            length: PropertyList.Limit.length,
            // The root element contains the values.
            depth: PropertyList.Limit.depth + 1, elements: PropertyList.Limit.work / PropertyList.Limit.workOfAnObject)
        guard let root = try? XMLElement.parse(bytes, within: limits), root.name == "plist" else {
            throw PropertyList.Fault(words: "it is not a property list")
        }
        guard root.children.count == 1 else { throw damaged }
        return try value(root.children[0])
    }

    private static func value(_ element: XMLElement) throws(PropertyList.Fault) -> PropertyList {
        let trimmed = element.trimmedText
        switch element.name {
        case "array", "dict": guard trimmed.isEmpty else { throw damaged }
        default: guard element.children.isEmpty else { throw damaged }
        }
        switch element.name {
        case "true", "false": return .boolean(element.name == "true")
        case "array": return .array(try element.children.map { child throws(PropertyList.Fault) in try value(child) })
        case "dict": return try dictionary(element.children)
        case "string": return .string(element.text)
        case "data":
            guard let data = Base64.decode(element.text.utf8.filter { !$0.isWhiteSpace }) else { throw damaged }
            return .data(data)
        case "integer":
            guard let number = integer(trimmed) else { throw damaged }
            return .integer(number)
        case "real":
            guard let number = Double(trimmed) else { throw damaged }
            return .real(number)
        case "date":
            guard let seconds = UnixTime(internetDate: Array(trimmed.utf8))?.seconds else { throw damaged }
            return .date(Double(seconds - 978_307_200))
        default: throw damaged
        }
    }

    /// In XML a reference is a dictionary with this key alone.
    private static func dictionary(_ children: [XMLElement]) throws(PropertyList.Fault) -> PropertyList {
        guard children.count.isMultiple(of: 2) else { throw damaged }
        var values: [String: PropertyList] = [:]
        for index in stride(from: 0, to: children.count, by: 2) {
            guard children[index].name == "key", children[index].children.isEmpty else { throw damaged }
            values[children[index].text] = try value(children[index + 1])
        }
        if values.count == 1, let number = values["CF$UID"]?.integer, let place = Int(exactly: number), place >= 0 {
            return .reference(place)
        }
        return .dictionary(values)
    }

    private static func integer(_ text: String) -> Int64? {
        let digits = text.lowercased()
        return digits.hasPrefix("0x") ? Int64(digits.dropFirst(2), radix: 16) : Int64(text)
    }
}

extension UnixTime {
    /// Parses `2026-11-21T12:00:00Z`, the only form in property lists.
    fileprivate init?(internetDate fields: [UInt8]) {
        guard fields.count == 20, fields[4] == .dash, fields[7] == .dash, fields[10] == UInt8(ascii: "T"),
            fields[13] == .colon, fields[16] == .colon, fields[19] == UInt8(ascii: "Z"),
            let year = fields[0..<4].decimalNumber, let month = fields[5..<7].decimalNumber,
            let day = fields[8..<10].decimalNumber, let hour = fields[11..<13].decimalNumber,
            let minute = fields[14..<16].decimalNumber, let second = fields[17..<19].decimalNumber, 1...12 ~= month,
            1...31 ~= day, hour < 24, minute < 60, second < 61
        else { return nil }
        self.init(seconds: Self.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second)
    }
}
