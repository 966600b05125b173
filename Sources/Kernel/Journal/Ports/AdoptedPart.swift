/// The paths of a part file that begins with another file's bytes, and of its journal.
package struct AdoptedPart: Hashable, Sendable {
    package var part: String
    package var journal: String

    package init(part: String, journal: String) {
        self.part = part
        self.journal = journal
    }
}
