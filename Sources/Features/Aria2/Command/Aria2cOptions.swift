import PawlAria2
package import PawlBase
import PawlGet
package import PawlIntake

/// The values of aria2c's options, by aria2's names and in its normal form.
package struct Aria2cOptions: Sendable {
    /// Values by name; several headers are joined by line feeds.
    package private(set) var values: [String: String] = [:]
    /// Options without effect, in the order given.
    package private(set) var passedOver: [String] = []
    /// The requested text: `help` or `version`.
    package private(set) var textOption: String?
    /// What help is requested about: a tag such as `#basic`, or a word; empty for the basic options.
    package private(set) var topic = ""
    /// Assignments of a configuration file that no option is known for.
    package private(set) var unknown: [String] = []

    package init() {}

    package subscript(_ name: String) -> String? { values[name] }
    package func flag(_ name: String) -> Bool { values[name] == "true" }
    package func number(_ name: String) -> Int64? { values[name].flatMap { Int64($0) } }
    /// The path that an option names: an empty one is none, with which scripts undo a configuration.
    package func path(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    /// Throws code 28 for an invalid value.
    package mutating func set(_ row: Aria2cRow, _ value: String) throws(Failure) {
        switch row.role {
        case .text: (textOption, topic) = (row.option.name, value)
        case .nothing:
            if row.option.kind.isNumeric && row.option.normal(value) == nil {
                throw Aria2cOptions.refusal(row, value)
            }
            passedOver.append(row.option.name)
            // Clients read it back.
            if let option = Aria2Option.table[row.option.name] {
                let isBare = row.option.kind == .flag && value.isEmpty
                values[row.option.name] = option.normal(isBare ? "true" : value) ?? values[row.option.name]
            }
        case .meant:
            // Scripts glue a blank to a value (`'-s 16'`).
            let word = String(decoding: value.utf8.trimmed(\.isBlank), as: UTF8.self)
            let given = row.option.kind == .flag && value.isEmpty ? "true" : word
            // Several lines must be given as several options.
            guard !given.utf8.contains(UInt8(ascii: "\n")), let normal = row.option.normal(given),
                row.option.isUsable(normal),
                // aria2c looks whether the torrent is there before anything else.
                row.option.name != "torrent-file" || nameExists(value)
            else { throw Aria2cOptions.refusal(row, value) }
            let former = row.option.kind == .lines ? values[row.option.name] : nil
            values[row.option.name] = former.map { $0 + "\n" + normal } ?? normal
        }
    }

    private static func refusal(_ row: Aria2cRow, _ value: String) -> Failure {
        Failure(
            // aria2c reads an identifier only when it makes the download.
            row.option.kind == .identifier ? .unknown : .badOption, "cannot use", at: "--\(row.option.name)=\(value)",
            because: "invalid value for this option", remedy: "see 'man aria2c' or 'pawl help aria2c'")
    }

    /// Merges these options over `others`.
    package func over(_ others: Aria2cOptions) -> Aria2cOptions {
        var joined = others
        for (name, value) in values { joined.values[name] = value }
        joined.passedOver += passedOver
        joined.unknown += unknown
        joined.topic = topic.isEmpty ? others.topic : topic
        joined.textOption = textOption ?? others.textOption
        return joined
    }

    /// Has no value for an option instead of that of the options over which these are merged.
    mutating func keepToItself(_ name: String) { values[name] = values[name] ?? "" }

    /// Leaves an option out.
    mutating func forget(_ name: String) { values[name] = nil }

    /// The assignments of a configuration file; unknown names are ignored, as in aria2, and returned.
    package mutating func take(configuration bytes: [UInt8], home: String) throws(Failure) {
        for option in ConfigurationFile.parse(bytes, home: home) {
            guard let row = Aria2cRow.named[option.name] else {
                unknown.append(option.value.isEmpty ? option.name : "\(option.name)=\(option.value)")
                continue
            }
            try set(row, option.value)
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
