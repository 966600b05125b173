extension FakeDisk {
    /// How often something happened.
    package struct Counts: Sendable, Hashable {
        package var checkpoints = 0
        /// Bytes that were written over bytes that were there.
        package var rewritten: Int64 = 0
        package var fullDisks = 0
        package var failedCalls = 0
        package var adopted = 0
        package var damagedJournals = 0
        /// Bytes that a power cut took, of those that were written.
        package var lostToPowerCuts: Int64 = 0
        /// Kills between a write, or a part of it, and its cursor.
        package var killsInWrites = 0
        /// Bytes of such writes that the file's length told, and others.
        package var toldByLength: Int64 = 0
        package var lostToKills: Int64 = 0
        /// Bytes that a lane brought and that another one had written.
        package var dropped: Int64 = 0
        /// Part files that somebody else made longer, and those of them that were cut.
        package var grown = 0
        package var cutTails = 0
    }
}
