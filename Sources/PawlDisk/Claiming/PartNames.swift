import PawlCore

/// The three names of a download in its folder.
struct PartNames: Hashable, Sendable {
    /// The permissions of a part file, before umask: other users must not write to an unfinished file.
    static let mode: UInt32 = 0o644

    let final: String
    let part: String
    let journal: String

    init(_ name: String) {
        final = name
        part = FileName.partial(of: name)
        journal = FileName.journal(of: name)
    }
}
