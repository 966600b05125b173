import Pawl
import PawlBase

extension ServiceMethod {
    /// The table as an OpenRPC document (https://spec.open-rpc.org, version 1.3.2).
    static var openRPC: JSON {
        [
            "openrpc": "1.3.2",
            "info": [
                "title": "Pawl", "version": .string(PawlVersion.text), "license": ["name": "Apache-2.0"],
                "description":
                    "Methods of the Pawl service, beside those of aria2. At the port the first parameter is the secret, token:SECRET; at the socket file it is left out.",
            ], "methods": .array(table.map(\.openRPC)),
        ]
    }

    private var openRPC: JSON {
        let values = (try? JSON.parse(Array(example.utf8)).array) ?? []
        let names = Self.parts(of: parameters)
        // What can be left out is last.
        var isRequired = true
        let parameters = names.enumerated().map { place, text -> JSON in
            let parameter = Parameter(text)
            isRequired = isRequired && parameter.isRequired && (values.isEmpty || place < values.count)
            return [
                "name": .string(parameter.name), "description": .string(text), "required": .bool(isRequired),
                "schema": parameter.schema,
            ]
        }
        let given = zip(names, values).map { text, value -> JSON in
            ["name": .string(Parameter(text).name), "value": value]
        }
        return [
            "name": .string(name), "description": .string(help), "params": .array(parameters),
            "result": ["name": "result", "description": .string(result), "schema": resultSchema],
            "paramStructure": "by-position",
            "examples": [
                [
                    "name": "example", "params": .array(given),
                    "result": ["name": "result", "value": .null],
                ]
            ],
            "x-access": .string(isReadOnly ? "read" : returnsOptions ? "read secrets" : "change"),
        ]
    }

    /// The elements of the array that ``parameters`` shows.
    static func parts(of parameters: String) -> [String] {
        var (parts, depth): ([String], Int) = ([""], 0)
        for character in parameters.dropFirst().dropLast() {
            if character == ",", depth == 0 {
                parts.append("")
                continue
            }
            if "[{".contains(character) { depth += 1 }
            if "]}".contains(character) { depth -= 1 }
            parts[parts.count - 1].append(character)
        }
        return parts.map { part in
            String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
        }.filter { !$0.isEmpty }
    }

    /// One parameter as the table shows it: `ID`, `ID or [ID, ...]`, `{states, group}`, `RATE or null`.
    private struct Parameter {
        let text: String

        init(_ text: String) { self.text = text }

        private var alternatives: [String] {
            text.hasPrefix("[") || text.hasPrefix("{")
                ? [text] : text.split(separator: " ").map(String.init).filter { $0 != "or" }
        }

        /// The first word in capitals; of an object, or a list of them, the kind.
        var name: String {
            let word = text.prefix { $0.isUppercase }
            if word.count > 1 { return word.lowercased() }
            return text.hasPrefix("{") ? "fields" : "items"
        }

        /// An object of optional fields can be left out.
        var isRequired: Bool { !text.hasPrefix("{") && !text.contains("null") }

        var schema: JSON {
            if text.hasPrefix("{") { return object(text) }
            if text.hasPrefix("[") { return ["type": text.hasSuffix("or null") ? ["array", "null"] : "array"] }
            let kinds = alternatives.compactMap { word -> JSON? in
                if word.hasPrefix("[") { return ["type": "array", "items": ["type": "string"]] }
                switch word {
                case "null": return ["type": "null"]
                case "RATE", "NUMBER": return ["type": "integer"]
                case _: return word.allSatisfy { $0.isUppercase } ? ["type": "string"] : nil
                }
            }
            return kinds.count == 1 ? kinds[0] : kinds.isEmpty ? [:] : ["anyOf": .array(kinds)]
        }

        private func object(_ text: String) -> JSON {
            let fields = text.dropFirst().prefix { $0 != "}" }.split(separator: ",").map { field in
                JSON.Member(String(field.filter { $0 != " " }), [:])
            }
            return ["type": "object", "properties": .object(fields), "additionalProperties": .bool(false)]
        }
    }
}
