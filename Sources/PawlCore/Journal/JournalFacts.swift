/// What the journal says about a download besides its cursors: enough to continue in another process.
package struct JournalFacts: Hashable, Sendable {
    /// The address the person gave first, then mirrors and replacements, newest last; without user info.
    package var sources: [String]
    /// What the bytes of the part file are.
    package var representation: Representation
    /// The final file name (not a path: the journal may move with its folder).
    package var name: String

    package init(sources: [String], representation: Representation = Representation(), name: String) {
        self.sources = sources
        self.representation = representation
        self.name = name
    }
}

extension JournalFacts {
    /// The same of one address, with nothing that servers have said of it.
    var brief: JournalFacts {
        let known = representation
        let representation = Representation(
            wish: known.wish,
            base: known.base,
            coding: known.coding,
            total: known.total,
            mediaType: known.mediaType
        )
        return JournalFacts(sources: Array(sources.prefix(1)), representation: representation, name: name)
    }
}

/// What was found of an earlier run: the facts, and the bytes that may be trusted on this boot.
package struct LoadedJournal: Hashable, Sendable {
    package var facts: JournalFacts
    package var done: ByteRangeSet

    package init(facts: JournalFacts, done: ByteRangeSet) {
        self.facts = facts
        self.done = done
    }
}
