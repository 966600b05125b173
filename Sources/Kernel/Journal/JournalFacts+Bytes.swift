extension JournalFacts {
    /// The facts as bytes, for a caller that stores them elsewhere than in a journal.
    package var encoded: [UInt8] {
        var writer = JournalWriter()
        writer.put(self)
        writer.putTail(of: representation)
        return writer.bytes
    }

    /// `nil` unless the bytes are exactly those of ``encoded``.
    package init?(encoded bytes: [UInt8]) {
        var reader = JournalReader(bytes[...])
        guard var facts = reader.takeFacts(), reader.isAtEnd || reader.takeTail(into: &facts.representation),
            facts.encoded == bytes
        else { return nil }
        self = facts
    }
}
