extension FileName {
    /// The names of part file and journal: the spare ones are used where another program's file has one of the usual ones.
    package enum PartForm: String, CaseIterable, Sendable {
        case usual = ""
        case spare = ".1"

        package var partialEnding: String { ".part" + rawValue }
        package var journalEnding: String { ".pawl" + rawValue }
    }

    /// Whether it may be the name of a part file or journal of another download.
    package static func looksLikePart(_ name: String) -> Bool {
        // Compared for each file of a list: most differ in the last byte.
        let last = name.utf8.last
        return partEndings.contains { $0.utf8.last == last && name.endsWithBytes(of: $0) }
    }

    private static let partEndings = PartForm.allCases.flatMap { [$0.partialEnding, $0.journalEnding] }

    /// The part file beside `name`.
    package static func partial(of name: String, as form: PartForm = .usual) -> String {
        beside(name, form.partialEnding)
    }

    /// The journal beside `name`; shortened like `partial`, so that the two share a name.
    package static func journal(of name: String, as form: PartForm = .usual) -> String {
        beside(name, form.journalEnding)
    }

    /// The place of a damaged journal of `name` that was set aside.
    package static func damagedJournal(of name: String) -> String { beside(name, ".pawl.bad") }

    /// `name` with `suffix`; where that is too long for a file name, a hash replaces the rest of `name`.
    private static func beside(_ name: String, _ suffix: String) -> String {
        guard name.utf8.count + suffix.utf8.count > limit else { return name + suffix }
        let mark = "~" + FNV.hex(FNV.hash64(name.utf8)) + suffix
        return String(prefix(name[...], bytes: limit - mark.utf8.count)) + mark
    }
}
