/// Joins the page's modules and style sheets into one file each, so that a browser needs two requests for them.
///
/// The modules stay ordinary ECMAScript modules; each becomes a function that returns its exports. What it relies
/// on: an import stands on one line, exports are declarations (`export const`, `function`, `class`), an exported
/// variable is never assigned again, and imports have no cycle.
enum PageBundle {
    struct Broken: Error {
        let what: String
    }

    /// The script with `entry` and everything that it imports.
    static func script(entry: String, _ text: (String) -> String?) throws(Broken) -> String {
        var bundle = Bundle()
        try bundle.add(entry, text)
        return bundle.output
    }

    /// Style sheets without their comments.
    static func style(_ sheets: [String]) -> String {
        sheets.map { sheet in
            var rest = sheet[...]
            var output = ""
            while let start = rest.firstRange(of: "/*"),
                let end = rest[start.upperBound...].firstRange(of: "*/")
            {
                output += rest[..<start.lowerBound]
                rest = rest[end.upperBound...]
            }
            return (output + rest).split(separator: "\n").map { $0.drop { $0 == " " } }.joined(
                separator: "\n"
            )
        }.joined(separator: "\n")
    }

    private struct Bundle {
        var output = "\"use strict\";\nconst modules = {};\n"
        private var added: Set<String> = []
        private var open: Set<String> = []

        mutating func add(_ name: String, _ text: (String) -> String?) throws(Broken) {
            guard !added.contains(name) else { return }
            guard !open.contains(name) else { throw Broken(what: "\(name) imports itself") }
            guard let source = text(name) else { throw Broken(what: "\(name) does not exist") }
            open.insert(name)
            var body: [String] = []
            var exports: [Substring] = []
            for line in PageBundle.code(source) {
                if line.hasPrefix("import ") {
                    let (names, file) = try PageBundle.parse(line, in: name)
                    try add(file, text)
                    body.append("const \(names) = modules[\"\(file)\"];")
                } else if line.hasPrefix("export ") {
                    let declaration = line.dropFirst("export ".count)
                    exports.append(try PageBundle.declared(declaration, in: name))
                    body.append(String(declaration))
                } else {
                    body.append(String(line))
                }
            }
            output += "modules[\"\(name)\"] = (() => {\n\(body.joined(separator: "\n"))\n"
            output += "return { \(exports.joined(separator: ", ")) };\n})();\n"
            added.insert(name)
        }
    }

    /// The names and the file of `import { a, b as c } from "./x.js";` and of `import * as x from "./x.js";`.
    private static func parse(_ line: Substring, in name: String) throws(Broken) -> (String, String) {
        let parts = line.dropFirst("import ".count).split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasSuffix(" from "), parts[1].hasPrefix("./"), parts[2] == ";" else {
            throw Broken(what: "\(name): \(line)")
        }
        var names = String(parts[0].dropLast(" from ".count))
        if names.hasPrefix("* as ") {
            names.removeFirst("* as ".count)
        } else {
            names = names.split(separator: ",").map { $0.replacing(" as ", with: ": ") }.joined(
                separator: ","
            )
        }
        return (names, String(parts[1].dropFirst(2)))
    }

    /// The name that a declaration declares.
    private static func declared(_ declaration: Substring, in name: String) throws(Broken) -> Substring {
        for start in ["const ", "class ", "function ", "async function "] where declaration.hasPrefix(start) {
            return declaration.dropFirst(start.count).prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        }
        throw Broken(what: "\(name): export \(declaration)")
    }

    /// The lines without comments that stand alone, and without indentation.
    private static func code(_ source: String) -> [Substring] {
        var isComment = false
        return source.split(separator: "\n").compactMap { line in
            let line = line.drop { $0 == " " }
            if isComment {
                isComment = !line.hasSuffix("*/")
                return nil
            }
            if line.hasPrefix("/**") {
                isComment = !line.contains("*/")
                // A type before a parameter is followed by code.
                return isComment || line.hasSuffix("*/") ? nil : line
            }
            return line.hasPrefix("//") ? nil : line
        }
    }
}
