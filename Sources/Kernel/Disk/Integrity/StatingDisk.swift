package import PawlBase
package import PawlJournal
import Synchronization

/// The disk of a download that ends with its first response: only what the origin states of the content is of interest.
package final class StatingDisk: UnstoredDisk {
    private let state = Mutex<Representation?>(nil)

    package init() {}

    /// The digests that the response stated of a file with its content; `nil` without an accepted response.
    ///
    /// Those of a coded response may be of either form, and a file may have the other one.
    package var digests: [ExpectedDigest]? {
        state.withLock { $0.map { $0.coding == nil ? $0.digests.map(\.expected) : [] } }
    }

    package func claim(_ claim: Claim, adopts: (LoadedJournal) -> Bool) throws(Failure) -> ClaimResult {
        state.withLock { $0 = claim.facts.representation }
        throw Failure(.unfinished, "cannot download", at: claim.name, because: "only its header section was requested")
    }
}
