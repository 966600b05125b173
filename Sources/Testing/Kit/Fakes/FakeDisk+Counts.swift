extension FakeDisk {
    /// The number of events of each kind.
    package struct Counts: Sendable, Hashable {
        package var checkpoints = 0
        /// Bytes written over existing bytes.
        package var rewritten: Int64 = 0
        package var fullDisks = 0
        package var failedCalls = 0
        package var adopted = 0
        package var damagedJournals = 0
        /// Written bytes that a power cut has destroyed.
        package var lostToPowerCuts: Int64 = 0
        /// Kills between a write, or a part of it, and its cursor.
        package var killsInWrites = 0
        /// Bytes of such writes that the file's length revealed, and others.
        package var revealedByLength: Int64 = 0
        package var lostToKills: Int64 = 0
        /// Bytes received by a lane that another one had already written.
        package var dropped: Int64 = 0
        /// Part files that another program extended, and those of them that were truncated.
        package var grown = 0
        package var cutTails = 0
        /// Holes of existing files that were continued.
        package var holes = 0
        /// Whole files that got their names at once.
        package var wholeFiles = 0
    }
}
