import PawlBase
import PawlJournal

/// The part of a claim that publishing needs.
struct ClaimTerms: Hashable, Sendable {
    /// The requested name.
    @Bytewise var name: String
    /// Whether the name was chosen, not suggested.
    let isChosen: Bool
    let ifExists: IfExists
    /// The only file that is replaced, if not any.
    let replaces: FileStamp?
    /// See ``Claim/recognizesBytes``.
    let recognizesBytes: Bool
    /// The URL that distinguishes this download from another of the same name.
    @Bytewise var source: String
    /// The requested part of the resource.
    let selection: RequestedRange?

    init(_ claim: Claim) {
        name = claim.name
        isChosen = claim.isChosen
        ifExists = claim.ifExists
        replaces = claim.replaces
        recognizesBytes = claim.recognizesBytes
        source = claim.facts.sources.first ?? ""
        selection = claim.facts.representation.selection
    }
}
