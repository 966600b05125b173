package import PawlCore
import PawlServer

/// The values of aria2c's options, by aria2's names and in its normal form.
package struct Aria2cOptions: Sendable {
    /// Values by name; several headers are joined by line feeds.
    package private(set) var values: [String: String] = [:]
    /// Options without effect, in the order given.
    package private(set) var passedOver: [String] = []
    /// The requested text: `help` or `version`.
    package private(set) var textOption: String?

    package init() {}

    package subscript(_ name: String) -> String? { values[name] }
    package func flag(_ name: String) -> Bool { values[name] == "true" }
    package func number(_ name: String) -> Int64? { values[name].flatMap { Int64($0) } }

    /// Throws code 28 for an invalid value.
    package mutating func set(_ row: Aria2cRow, _ value: String) throws(Failure) {
        switch row.role {
        case .text: textOption = row.option.name
        case .nothing: passedOver.append(row.option.name)
        case .meant:
            let given = row.option.kind == .flag && value.isEmpty ? "true" : value
            // Several lines must be given as several options.
            guard !given.utf8.contains(UInt8(ascii: "\n")), let normal = row.option.normal(given) else {
                throw Failure(
                    .badOption,
                    "cannot use",
                    at: "--\(row.option.name)=\(value)",
                    because: "invalid value for this option",
                    remedy: "see 'man aria2c' or 'pawl help aria2c'"
                )
            }
            let former = row.option.kind == .lines ? values[row.option.name] : nil
            values[row.option.name] = former.map { $0 + "\n" + normal } ?? normal
        }
    }

    /// Merges these options over `others`.
    package func over(_ others: Aria2cOptions) -> Aria2cOptions {
        var joined = others
        for (name, value) in values { joined.values[name] = value }
        joined.passedOver += passedOver
        joined.textOption = textOption ?? others.textOption
        return joined
    }

    /// Applies the options of one download.
    func apply(to options: inout GetOptions, of source: String) throws(Failure) {
        if let folder = self["dir"] { options.folder = try OptionValues.notEmpty("dir", folder) }
        if let name = self["out"] { options.output = try OptionValues.notEmpty("out", name) }
        try Aria2Options(values).apply(to: &options.download, of: source)
    }

    /// Lines `name=value` of a configuration file; unknown names are ignored, as in aria2.
    package mutating func take(configuration text: String) throws(Failure) {
        for line in text.split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0]).trimmed
            guard !name.isEmpty, !name.hasPrefix("#") else { continue }
            guard parts.count == 2, let row = Aria2cRow.named[name] else {
                passedOver.append(name)
                continue
            }
            try set(row, String(parts[1]).trimmed)
        }
    }

    /// Options below a URL in an input file; unknown names are ignored.
    package init(_ lines: [InputOption]) throws(Failure) {
        for line in lines {
            guard let row = Aria2cRow.named[line.name] else { continue }
            try set(row, line.value)
        }
    }
}

extension String {
    fileprivate var trimmed: String {
        var rest = self[...].drop(while: \.isWhitespace)
        while rest.last?.isWhitespace == true { rest = rest.dropLast() }
        return String(rest)
    }
}
