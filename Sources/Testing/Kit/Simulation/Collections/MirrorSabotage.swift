/// A deliberate fault of a world of collections, to test that the laws notice it.
package enum MirrorSabotage: String, CaseIterable, Sendable {
    /// A listing does not tell that it is not complete.
    case hidesPartialListings
    /// Removes what a listing that is not complete lacks.
    case trustsPartialListings
    /// Removes what others have put there.
    case removesAllThatIsNotListed
    /// Fetches what it has.
    case forgetsWhatItHas
    /// Files are not downloaded whose place had something else.
    case leavesObstacles

    /// The law that has to notice it.
    package var law: Law {
        switch self {
        case .hidesPartialListings: .listed
        case .trustsPartialListings, .removesAllThatIsNotListed, .forgetsWhatItHas, .leavesObstacles: .mirrored
        }
    }

    /// What has to occur for it to be noticed.
    package var mechanism: String {
        switch self {
        case .hidesPartialListings: "collections: incomplete listings"
        case .trustsPartialListings: "collections: mirrors of incomplete listings"
        case .removesAllThatIsNotListed: "collections: files of users"
        case .forgetsWhatItHas: "collections: files kept"
        case .leavesObstacles: "collections: files that gave way"
        }
    }
}
