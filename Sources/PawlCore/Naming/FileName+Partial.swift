extension FileName {
    /// The part file beside `name`.
    package static func partial(of name: String) -> String { beside(name, ".part") }

    /// The journal beside `name`; shortened like `partial`, so that the two stand together.
    package static func journal(of name: String) -> String { beside(name, ".pawl") }

    /// Where a damaged journal of `name` is set aside.
    package static func damagedJournal(of name: String) -> String { beside(name, ".pawl.bad") }

    /// `name` with `suffix`; where that is too long for a file name, a hash stands for the rest of `name`.
    private static func beside(_ name: String, _ suffix: String) -> String {
        guard name.utf8.count + suffix.utf8.count > limit else { return name + suffix }
        let mark = "~" + FNV.hex(FNV.hash64(name.utf8)) + suffix
        return String(prefix(name[...], bytes: limit - mark.utf8.count)) + mark
    }
}
