package import PawlBase

/// Names that others have chosen, on their way to names of files.
///
/// The one place that decides which names a listing may give to files: whatever a server or a store says, a checked path
/// has no part that leads elsewhere.
package enum EntryName {
    /// The longest path below the folder, in bytes: with the folder it must be less than the system's 4,096.
    package static let longestPath = 3_072

    /// Why bytes are no file's name; `nil` if a file can have it.
    ///
    /// A tab is allowed, as a part of objects' keys has one; other control characters change what a terminal shows.
    package static func flaw(_ name: some Collection<UInt8>) -> String? {
        if name.isEmpty { return "it has an empty part, which is not a file name" }
        if name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8) {
            return "it has a part . or .., which is not a file name"
        }
        if name.contains(.slash) { return "a part of it contains a slash, which no file name can" }
        if name.contains(where: { $0 < 0x20 && $0 != .tab || $0 == 0x7F }) { return "it contains a control character" }
        return name.count > FileName.limit
            ? "a part of it has more than \(FileName.limit) bytes, which no file name can have" : nil
    }

    /// The path of these names; throws why it cannot be one.
    ///
    /// What is not UTF-8 is percent-encoded: such a name can be written, and tells which bytes it had.
    package static func path(_ names: some Sequence<[UInt8]>) throws(EntryFlaw) -> String {
        var path = ""
        for name in names {
            let part = PercentCoding.text(name)
            // Percent-encoded it may have become longer.
            if let flaw = flaw(name) ?? flaw(Array(part.utf8)) { throw EntryFlaw(why: flaw) }
            if !path.isEmpty { path += "/" }
            path += part
        }
        guard path.utf8.count <= longestPath else { throw EntryFlaw(why: "it has more than \(longestPath) bytes") }
        return path
    }
}

/// Why an entry of a listing cannot be a file.
package struct EntryFlaw: Error, Hashable, Sendable {
    /// Of the path, which is the subject.
    package var why: String

    package init(why: String) { self.why = why }

    /// Code 28, as for a name that the user gives.
    package func failure(of place: String) -> Failure {
        Failure(.badOption, "cannot store", at: place, because: why, remedy: "download it alone under another name")
    }
}
