import PawlBase
import PawlXML

/// Finds the secret in a message without parsing the message: authenticated clients do not wait behind unauthenticated
/// ones, and have larger limits.
package enum SecretScan {
    private static let mark = Array("token:".utf8)
    /// Marks that are examined, whether a text follows or not: this runs on the server's thread for messages of any client.
    ///
    /// A secret after further marks is found when the message is parsed.
    private static let mostMarks = 4
    private static let longest = 1024
    private static let limits = XMLElement.Limits(length: 2 * longest, depth: 2, elements: 2)

    /// The texts after the first marks: as a JSON string, and as XML text, since either may have the other's delimiter.
    package static func candidates(in bytes: some Collection<UInt8>) -> [String] {
        var found: [String] = []
        var marks = 0
        var rest = Array(bytes)[...]
        while marks < mostMarks, let start = rest.firstIndex(of: mark[0]) {
            rest = rest[start...]
            guard rest.starts(with: mark) else {
                rest = rest.dropFirst()
                continue
            }
            marks += 1
            rest = rest.dropFirst(mark.count)
            found += [string(rest.prefix(longest)), text(rest.prefix(longest))].compactMap { $0 }
        }
        return found
    }

    /// The JSON string that ends in these bytes.
    private static func string(_ bytes: ArraySlice<UInt8>) -> String? {
        var isEscaped = false
        for index in bytes.indices {
            if isEscaped {
                isEscaped = false
            } else if bytes[index] == UInt8(ascii: "\\") {
                isEscaped = true
            } else if bytes[index] == UInt8(ascii: "\"") {
                return try? JSON.parse([UInt8(ascii: "\"")] + bytes[...index]).string
            }
        }
        return nil
    }

    /// The XML text that ends in these bytes.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String? {
        guard let end = bytes.firstIndex(of: UInt8(ascii: "<")) else { return nil }
        return try? XMLElement.parse(Array("<s>".utf8) + bytes[..<end] + Array("</s>".utf8), within: limits).text
    }
}
