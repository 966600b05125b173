package import PawlBase

/// The journal's record of a download besides its cursors: enough to resume in another process.
package struct JournalFacts: Hashable, Sendable {
    /// The address given first by the user, then mirrors and replacements, newest last; without user info.
    @Bytewise package var sources: [String]
    /// The representation of the bytes in the part file.
    package var representation: Representation
    /// The final file name (not a path: the journal may move with its folder).
    @Bytewise package var name: String

    package init(sources: [String], representation: Representation = Representation(), name: String) {
        self.sources = sources
        self.representation = representation
        self.name = name
    }
}

extension JournalFacts {
    /// The same with one address, without validators.
    var brief: JournalFacts {
        let known = representation
        let representation = Representation(
            selection: known.selection, base: known.base, coding: known.coding, total: known.total,
            mediaType: known.mediaType)
        return JournalFacts(sources: Array(sources.prefix(1)), representation: representation, name: name)
    }
}

/// The journal of an earlier run: the facts, and the bytes that may be trusted on this boot.
package struct LoadedJournal: Hashable, Sendable {
    package var facts: JournalFacts
    package var done: ByteRangeSet
    /// The length of the finished file with which the part file began, and which is restored if it cannot be continued.
    package var original: Int64?

    package init(facts: JournalFacts, done: ByteRangeSet, original: Int64? = nil) {
        self.facts = facts
        self.done = done
        self.original = original
    }
}
