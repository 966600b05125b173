package import PawlCore

/// Why something did not happen: one sentence that says what failed, where, why, and what to do.
///
/// Secrets (passwords, query strings, cookies) never appear in it.
public struct PawlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; its number is the command line's exit code.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The exit code, in aria2's table.
        public let rawValue: UInt8

        /// A code by its number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// What failed.
    public var what: String
    /// The redacted URL or the path on which it failed.
    public var place: String
    /// The cause.
    public var why: String
    /// What to do about it, empty when there is nothing.
    public var remedy: String
    /// What another task goes on from, in errors of a session's tasks that had received something; else `nil`.
    ///
    /// It is used as that of a cancelled task is: once, in any session of the same state folder.
    public package(set) var downloadTaskResumeData: [UInt8]?

    /// The option that was refused.
    private var refused: Setting?
    /// ``remedy`` before it was worded.
    private var advice: Remedy

    /// The sentence.
    public var description: String { failure.description }

    package init(_ failure: Failure) {
        code = Code(rawValue: failure.code.rawValue)
        what = failure.what
        place = failure.place
        why = failure.why
        remedy = failure.remedy.text
        refused = failure.refused
        advice = failure.remedy
    }

    package var failure: Failure {
        var failure = Failure(
            Failure.Code(rawValue: code.rawValue),
            what,
            at: place,
            because: why,
            remedy: advice.text == remedy ? advice : Remedy(remedy)
        )
        failure.refused = refused
        return failure
    }
}
