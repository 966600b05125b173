import PawlCore

/// The three names of a download in its folder.
struct PartNames: Hashable, Sendable {
    let final: String
    let part: String
    let journal: String

    init(_ name: String) {
        final = name
        part = FileName.partial(of: name)
        journal = FileName.journal(of: name)
    }
}
