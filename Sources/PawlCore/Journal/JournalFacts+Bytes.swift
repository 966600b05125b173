extension JournalFacts {
    /// The facts as bytes, for a caller that stores them elsewhere than in a journal.
    package var encoded: [UInt8] {
        var writer = JournalWriter()
        writer.put(self)
        return writer.bytes
    }

    /// `nil` unless the bytes are exactly those of ``encoded``.
    package init?(encoded bytes: [UInt8]) {
        var reader = JournalReader(bytes[...])
        guard let facts = reader.takeFacts(), facts.encoded == bytes else { return nil }
        self = facts
    }
}
