/// The file's place on disk, and what was there before.
struct FileClaim: Hashable, Sendable {
    enum Medium: Hashable, Sendable {
        case disk
        /// The program wants the content in memory: a stop loses it.
        case memory
    }

    enum State: Hashable, Sendable {
        case none(Medium)
        case claimed(Medium)
        /// A finished file is continued.
        ///
        /// `isContinued`: an earlier run has done so; it is a partial file now, and given back only where it cannot be
        /// continued. `hasAskedBehind`: the bytes after it were requested.
        case existing(length: Int64, isContinued: Bool, hasAskedBehind: Bool)
        /// A finished file is kept as it is, and nothing is fetched.
        ///
        /// `isChecked`: what would prove a download is compared with it.
        case kept(length: Int64?, isChecked: Bool)
    }

    /// The final file name, once the file has a place.
    var name: String?
    private(set) var state = State.none(.disk)

    /// Whether bytes may be written.
    var isClaimed: Bool {
        switch state {
        case .claimed, .existing: true
        case .none, .kept: false
        }
    }

    var isInMemory: Bool {
        switch state {
        case .none(let medium), .claimed(let medium): medium == .memory
        case .existing, .kept: false
        }
    }

    /// The length of the finished file that is continued, before anything was added.
    var existingLength: Int64? { if case .existing(let length, _, _) = state { length } else { nil } }

    /// Whether there is such a file, and no earlier run has continued it.
    var isOriginal: Bool { if case .existing(_, let isContinued, _) = state { !isContinued } else { false } }

    /// The length of the finished file that is kept.
    var keptLength: Int64? { if case .kept(let length, _) = state { length } else { nil } }

    /// Whether that file is being checked.
    var checksKept: Bool { if case .kept(_, let isChecked) = state { isChecked } else { false } }

    /// Another run begins: the state is read from disk again.
    mutating func begin() { state = .none(.disk) }

    mutating func claimed() { if case .none(let medium) = state { state = .claimed(medium) } }

    /// The place is that of a finished file, which is continued.
    mutating func claimed(existing length: Int64, isContinued: Bool) {
        state = .existing(length: length, isContinued: isContinued, hasAskedBehind: false)
    }

    mutating func keep(length: Int64?) { state = .kept(length: length, isChecked: false) }

    mutating func checkKept() { state = .kept(length: keptLength, isChecked: true) }

    /// Whether the bytes after the existing file, of which all `written` bytes are, are to be requested: once.
    mutating func asksBehind(_ written: Int64) -> Bool {
        guard case .existing(written, let isContinued, false) = state else { return false }
        state = .existing(length: written, isContinued: isContinued, hasAskedBehind: true)
        return true
    }

    /// The content goes into memory instead; not that of an existing file, which is continued.
    mutating func useMemory() -> Bool {
        guard existingLength == nil else { return false }
        state = .none(.memory)
        return true
    }
}
