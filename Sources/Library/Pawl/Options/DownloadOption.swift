package import PawlBase
import PawlIntegrity

/// One option of a download, for every surface: command line, input files, store, RPC, and aria2's names.
///
/// The defaults are those of `DownloadOptions()` and stand nowhere else.
package struct DownloadOption: Sendable {
    /// How an option of a request applies to a known download of the same URL.
    enum WhenKnown: Sendable {
        /// The known download continues with it.
        case takenOver
        /// It identifies another file than the known one: a separate download.
        case anotherFile
        /// It specifies the expected content: adopted if none was specified, refused if it differs.
        case proof
        /// Not an option of a request.
        case kept
    }

    /// On the command line (without dashes), in input files and in `pawl.add`.
    package let name: String
    package let short: Character?
    /// Names of the same option in other tools.
    package let aliases: [String]
    /// Stands for the value in help; `nil` for a flag.
    package let placeholder: String?
    /// Whether the value may be left out.
    package let hasOptionalValue: Bool
    package let help: String
    /// The default, as help shows it.
    package let standard: String?
    /// Its name in failures.
    package let id: OptionID
    /// aria2's option with the same values.
    package let aria2: String?
    /// Whether a value may be the name of a local file, which only the owner may choose.
    package let namesFile: Bool
    /// Its name in the store, where version 0.1.0 wrote it; `nil` if it is stored elsewhere.
    let stored: String?
    let whenKnown: WhenKnown
    let field: OptionField

    init(
        _ name: String, _ field: OptionField, _ id: OptionID, stored: String?, short: Character? = nil,
        aliases: [String] = [], aria2: String? = nil, takes placeholder: String? = nil, hasOptionalValue: Bool = false,
        namesFile: Bool = false, whenKnown: WhenKnown = .takenOver, standard: String? = nil, _ help: String
    ) {
        self.name = name
        self.short = short
        self.aliases = aliases
        self.placeholder = placeholder
        self.hasOptionalValue = hasOptionalValue
        self.help = help
        self.id = id
        self.aria2 = aria2
        self.namesFile = namesFile
        self.stored = stored
        self.whenKnown = whenKnown
        self.field = field
        let texts = placeholder == nil ? [] : field.texts(DownloadOptions())
        self.standard = standard ?? texts.first.map { $0.hasSuffix(".0") ? String($0.dropLast(2)) : $0 }
    }

    /// Whether this value of it is the name of a local file: a key of minisign may also be given itself.
    package func isFile(_ text: String) -> Bool {
        namesFile && !text.isEmpty && !(id == .minisignKey && MinisignKey(text.utf8) != nil)
    }

    /// Its values in their stored form; none if it is not set.
    package func texts(of options: DownloadOptions) -> [String] { field.texts(options) }

    /// Sets the option to a text that a user wrote; a list gets it as another element.
    ///
    /// A flag is given by `true` or nothing, and keeps its value with `false`. Throws code 28.
    package func take(_ text: String, into options: inout DownloadOptions) throws(Failure) {
        try field.take(&options, text, id)
    }

    /// Sets the option to a text in its stored form; `false` if it cannot be read.
    package func restore(_ text: String, into options: inout DownloadOptions) -> Bool { field.restore(&options, text) }

    /// Sets the option to a text that any version stored.
    ///
    /// An invalid value becomes the nearest valid one, or leaves the default.
    func recover(_ text: String, into options: inout DownloadOptions) { field.recover(&options, text) }

    /// Removes the elements of a list.
    package func clear(_ options: inout DownloadOptions) { field.clear(&options) }
}

extension DownloadOption {
    /// Throws code 28 for the first option with an invalid value.
    package static func check(_ options: DownloadOptions) throws(Failure) {
        for option in table { try option.field.check(options, option.id) }
        if options.verification == .signed, options.openPGPKeyring == nil, options.minisignKey == nil {
            throw Failure(
                refusing: .verification, options.verification.rawValue,
                because: LocalizableMessage("must-have-signer", "no key was given whose signatures count"))
        }
    }

    /// Every option by its name and aliases.
    package static let named: [String: DownloadOption] = Dictionary(
        uniqueKeysWithValues: table.flatMap { option in ([option.name] + option.aliases).map { ($0, option) } })

    /// The option that a failure names.
    package static func option(of id: OptionID) -> DownloadOption? { table.first { $0.id == id } }
}
