/// Writes one JSON object (RFC 8259) on one line, keys in the order in which they are set.
package struct JSONObject {
    private var body = ""

    package init() {}

    package mutating func set(_ key: String, _ value: String?) {
        guard let value else { return setNull(key) }
        begin(key)
        JSONObject.append(value, to: &body)
    }

    package mutating func set(_ key: String, _ value: some BinaryInteger) {
        begin(key)
        body += String(value)
    }

    package mutating func set(_ key: String, _ value: Int64?) {
        guard let value else { return setNull(key) }
        set(key, value)
    }

    package mutating func set(_ key: String, _ value: Bool) {
        begin(key)
        body += value ? "true" : "false"
    }

    /// A number with so many decimals at most; JSON has no word for what is not finite, so that becomes `null`.
    package mutating func set(_ key: String, _ value: Double?, decimals: Int) {
        guard let value, value.isFinite, abs(value) < 1e15 else { return setNull(key) }
        begin(key)
        body += (value < 0 ? "-" : "") + Figures.fixed(abs(value), decimals: decimals)
    }

    /// The object as a line without its end.
    package var line: String { "{\(body)}" }

    private mutating func setNull(_ key: String) {
        begin(key)
        body += "null"
    }

    private mutating func begin(_ key: String) {
        if !body.isEmpty { body += "," }
        JSONObject.append(key, to: &body)
        body += ":"
    }

    private static func append(_ text: String, to body: inout String) {
        body += "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": body += "\\\""
            case "\\": body += "\\\\"
            case "\n": body += "\\n"
            case "\r": body += "\\r"
            case "\t": body += "\\t"
            // Line separators are legal in JSON, but end a line for some readers of lines.
            case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
                let digits = String(scalar.value, radix: 16)
                body += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: body.unicodeScalars.append(scalar)
            }
        }
        body += "\""
    }
}
