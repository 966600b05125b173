/// Joins the page's modules and style sheets, so that a browser needs few requests for them.
///
/// The modules stay ordinary ECMAScript modules; each becomes a function that returns its exports. What it relies
/// on: an import stands on one line, exports are declarations (`export const`, `function`, `class`), an exported
/// variable is never assigned again, and imports have no cycle.
///
/// A module that is imported by a call, `import("./x.js")`, is in a script of its own with those that only it imports.
enum PageBundle {
    struct Broken: Error { let what: String }

    /// The script of `entry`, and those that are loaded later, by the names of their entries.
    static func scripts(
        entry: String, _ text: (String) -> String?
    ) throws(Broken) -> (main: String, later: [(entry: String, script: String)]) {
        var main = Bundle()
        try main.add(entry, text)
        var (later, waiting, known): ([(entry: String, script: String)], [String], Set<String>) = (
            [], main.later, main.added
        )
        while let entry = waiting.popLast() {
            guard !later.contains(where: { $0.entry == entry }), !main.added.contains(entry) else { continue }
            var bundle = Bundle(added: main.added)
            try bundle.add(entry, text)
            let own = bundle.added.subtracting(main.added)
            guard known.isDisjoint(with: own) else { throw Broken(what: "\(entry) shares modules with others") }
            known.formUnion(own)
            waiting += bundle.later
            later.append((entry, "export const define = (modules, load) => {\n\(bundle.output)};\n"))
        }
        return (preamble + main.output, later)
    }

    /// The path of the script that has a module which is loaded later.
    static func path(of entry: String) -> String { "page-\(entry)" }

    /// A script that could not be loaded is requested again with another address: browsers keep failures.
    private static let preamble = """
        const modules = {};
        const loads = {};
        let failures = 0;
        const load = (name) => loads[name] ??= import(`./page-${name}${failures ? `?${failures}` : ""}`).then(
        ({ define }) => (define(modules, load), modules[name]),
        (error) => { delete loads[name]; failures += 1; throw error; });

        """

    /// The document with a script or a style sheet in place of the element that refers to it.
    static func embed(
        _ text: String, inPlaceOf reference: String, as element: String, in document: String
    ) throws(Broken) -> String {
        let name = element.prefix { $0 != " " }
        guard let range = document.firstRange(of: reference), !text.contains("</"), !text.contains("<!--") else {
            throw Broken(what: "\(reference) cannot be embedded")
        }
        return "\(document[..<range.lowerBound])<\(element)>\(text)</\(name)>\(document[range.upperBound...])"
    }

    /// Style sheets without their comments.
    static func style(_ sheets: [String]) -> String {
        sheets.map { sheet in
            var rest = sheet[...]
            var output = ""
            while let start = rest.firstRange(of: "/*"), let end = rest[start.upperBound...].firstRange(of: "*/") {
                output += rest[..<start.lowerBound]
                rest = rest[end.upperBound...]
            }
            return (output + rest).split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: "\n")
        }.joined(separator: "\n")
    }

    private struct Bundle {
        var output = ""
        /// The modules that are imported by calls.
        var later: [String] = []
        private(set) var added: Set<String>
        private var open: Set<String> = []

        init(added: Set<String> = []) { self.added = added }

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
                    body.append(replacingCalls(in: declaration))
                } else {
                    body.append(replacingCalls(in: line))
                }
            }
            output += "modules[\"\(name)\"] = (() => {\n\(body.joined(separator: "\n"))\n"
            output += "return { \(exports.joined(separator: ", ")) };\n})();\n"
            added.insert(name)
        }

        /// The line with calls of `load` for those of `import`.
        private mutating func replacingCalls(in line: some StringProtocol) -> String {
            let parts = String(line).split(separator: "import(\"./", omittingEmptySubsequences: false)
            for part in parts.dropFirst() { later.append(String(part.prefix { $0 != "\"" })) }
            return parts.joined(separator: "load(\"")
        }
    }

    /// The names and the file of `import { a, b as c } from "./x.js";` and of `import * as x from "./x.js";`.
    private static func parse(_ line: String, in name: String) throws(Broken) -> (String, String) {
        let parts = line.dropFirst("import ".count).split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].hasSuffix(" from "), parts[1].hasPrefix("./"), parts[2] == ";" else {
            throw Broken(what: "\(name): \(line)")
        }
        var names = String(parts[0].dropLast(" from ".count))
        if names.hasPrefix("* as ") {
            names.removeFirst("* as ".count)
        } else {
            names = names.split(separator: ",").map { $0.replacing(" as ", with: ": ") }.joined(separator: ",")
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

    /// A script without comments that stand alone, without types, and without indentation.
    package static func code(of source: String) -> String { code(source).joined(separator: "\n") }

    private static func code(_ source: String) -> [String] {
        var isComment = false
        return source.split(separator: "\n").compactMap { line in
            let line = line.drop { $0 == " " }
            if isComment {
                isComment = !line.hasSuffix("*/")
                return nil
            }
            if line.hasPrefix("//") { return nil }
            isComment = line.hasPrefix("/**") && !line.contains("*/")
            let rest = isComment ? "" : withoutTypes(line)
            return rest.isEmpty ? nil : rest
        }
    }

    /// The line without the comments in it, which are types.
    private static func withoutTypes(_ line: Substring) -> String {
        var (rest, output) = (line, "")
        while let start = rest.firstRange(of: "/**"), let end = rest[start.upperBound...].firstRange(of: "*/") {
            output += rest[..<start.lowerBound]
            rest = rest[end.upperBound...].drop { $0 == " " }
        }
        return output + rest
    }
}
