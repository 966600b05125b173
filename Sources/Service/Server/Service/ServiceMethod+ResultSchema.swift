import PawlBase

extension ServiceMethod {
    /// The JSON Schema of ``result``, as far as its words tell it.
    var resultSchema: JSON { Self.schema(ofResult: result) }

    /// The words of the table for values that are not shown as objects.
    private static let known: [String: JSON] = [
        "true": ["const": .bool(true)], "true, or whether it changed": ["type": "boolean"],
        "{ID: changed, ...}": ["type": "object", "additionalProperties": ["type": "boolean"]],
        "an array of numbers": ["type": "array", "items": ["type": "number"]],
        "a URL, or null": ["type": ["string", "null"]], "the new index, or null": ["type": ["integer", "null"]],
        "an OpenRPC document": ["type": "object"],
    ]

    static func schema(ofResult text: String) -> JSON {
        if let known = known[text] { return known }
        if text.hasPrefix("whether") { return ["type": "boolean"] }
        let objects = objects(in: text).map(schema(ofObject:))
        if text.hasPrefix("an array") {
            return ["type": "array", "items": any(of: objects.isEmpty ? [["type": "object"]] : objects)]
        }
        guard text.hasPrefix("{") else { return ["type": "object"] }
        return any(of: objects + (text.hasSuffix("or null") ? [["type": "null"]] : []))
    }

    private static func any(of schemas: [JSON]) -> JSON { schemas.count == 1 ? schemas[0] : ["anyOf": .array(schemas)] }

    /// The lists of names in braces, without those within others.
    private static func objects(in text: String) -> [String] {
        var (objects, depth): ([String], Int) = ([], 0)
        for character in text {
            if character == "{" { depth += 1 }
            if depth == 1, character == "{" { objects.append("") }
            if depth > 0 { objects[objects.count - 1].append(character) }
            if character == "}" { depth -= 1 }
        }
        return objects
    }

    /// Of `{a, b: [{c, d}, ...]}`: more members may come with a later version.
    private static func schema(ofObject text: String) -> JSON {
        let members = parts(of: text).map { part in
            let name = String(part.prefix { $0 != ":" })
            let inner = objects(in: part).map(schema(ofObject:))
            return JSON.Member(name, inner.isEmpty ? [:] : ["type": "array", "items": any(of: inner)])
        }
        return ["type": "object", "properties": .object(members)]
    }
}
