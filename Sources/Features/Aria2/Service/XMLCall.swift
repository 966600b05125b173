package import PawlBase
package import PawlWeb
import PawlXML

/// The XML-RPC encoding of the JSON-RPC calls.
package enum XMLCall {
    private static let limits = XMLElement.Limits(length: .max, depth: 64, elements: 100_000)

    /// `nil` if it is invalid.
    package static func parse(_ bytes: [UInt8]) -> RPCCall? {
        guard let root = try? XMLElement.parse(bytes, within: limits), root.name == "methodCall",
            let method = root.child("methodName")?.trimmedText
        else { return nil }
        var parameters: [JSON] = []
        for parameter in root.child("params")?.children("param") ?? [] {
            guard let value = parameter.child("value").flatMap(value) else { return nil }
            parameters.append(value)
        }
        return RPCCall(id: .null, method: method, parameters: parameters)
    }

    /// A value without a type is a string; bytes stay in base64, as in JSON-RPC.
    private static func value(_ holder: XMLElement) -> JSON? {
        guard let element = holder.children.first else { return .string(holder.text) }
        switch element.name {
        case "string": return .string(element.text)
        case "base64": return .string(String(element.text.unicodeScalars.filter { !$0.properties.isWhitespace }))
        case "int", "i4", "i8": return Int64(element.trimmedText).map { .number($0) }
        case "double": return .number(element.trimmedText)
        case "boolean": return .bool(element.trimmedText == "1")
        case "nil": return .null
        case "array":
            var values: [JSON] = []
            for holder in element.child("data")?.children("value") ?? [] {
                guard let value = value(holder) else { return nil }
                values.append(value)
            }
            return .array(values)
        case "struct":
            var members: [JSON.Member] = []
            for member in element.children("member") {
                guard let name = member.child("name")?.text, let value = member.child("value").flatMap(value) else {
                    return nil
                }
                members.append(JSON.Member(name, value))
            }
            return .object(members)
        default: return nil
        }
    }

    /// The JSON-RPC response encoded as XML-RPC; failed calls of a multicall are faults (system.multicall).
    package static func response(_ reply: JSON, isMulticall: Bool = false) -> [UInt8] {
        var text = "<?xml version=\"1.0\"?><methodResponse>"
        if let error = reply["error"] {
            text += "<fault>"
            write(fault(error), to: &text)
            text += "</fault>"
        } else {
            text += "<params><param>"
            var result = reply["result"] ?? .null
            if isMulticall, let entries = result.array {
                result = .array(entries.map { $0["code"] == nil ? $0 : fault($0) })
            }
            write(result, to: &text)
            text += "</param></params>"
        }
        return Array((text + "</methodResponse>").utf8)
    }

    private static func fault(_ error: JSON) -> JSON {
        ["faultCode": error["code"] ?? .number(1), "faultString": error["message"] ?? .string("")]
    }

    private static func write(_ value: JSON, to text: inout String) {
        text += "<value>"
        switch value {
        case .null: text += "<nil/>"
        case .bool(let flag): text += "<boolean>\(flag ? 1 : 0)</boolean>"
        case .number(let digits): text += Int32(digits) == nil ? "<double>\(digits)</double>" : "<int>\(digits)</int>"
        case .string(let string): text += "<string>\(escaped(string))</string>"
        case .array(let values):
            text += "<array><data>"
            for value in values { write(value, to: &text) }
            text += "</data></array>"
        case .object(let members):
            text += "<struct>"
            for member in members {
                text += "<member><name>\(escaped(member.name))</name>"
                write(member.value, to: &text)
                text += "</member>"
            }
            text += "</struct>"
        }
        text += "</value>"
    }

    /// Control characters cannot be represented in XML.
    private static func escaped(_ text: String) -> String {
        var escaped = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;".unicodeScalars
            case "<": escaped += "&lt;".unicodeScalars
            case ">": escaped += "&gt;".unicodeScalars
            case "\r": escaped += "&#13;".unicodeScalars
            case "\u{0}"..<" " where scalar != "\n" && scalar != "\t": escaped.append("\u{FFFD}")
            case "\u{FFFE}", "\u{FFFF}": escaped.append("\u{FFFD}")
            default: escaped.append(scalar)
            }
        }
        return String(escaped)
    }
}
