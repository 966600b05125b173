package import PawlBase

/// Bytes of other files with which a part file begins.
package enum Seed: Hashable, Sendable {
    /// The bytes `done` of the file at this path; without `keepsPartial` a part file that is there already is discarded.
    case file(String, done: ByteRangeSet, keepsPartial: Bool)
    /// The blocks that these files have of the described one, wherever they are in them.
    case blocks(ZsyncControl, files: [String])

    package var keepsPartial: Bool { if case .file(_, _, let keepsPartial) = self { keepsPartial } else { true } }
}

/// A part file that was begun with bytes of other files.
package struct SeededPart: Hashable, Sendable {
    /// The file's name; another one than requested where that is taken.
    package var name: String
    /// How many bytes the part file has.
    package var count: Int64

    package init(name: String, count: Int64) {
        self.name = name
        self.count = count
    }
}
