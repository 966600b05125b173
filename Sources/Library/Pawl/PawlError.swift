package import PawlBase

/// An error in one sentence: what failed, where, why, and a remedy.
///
/// Secrets (passwords, query strings, cookies) never appear in it.
public struct PawlError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of failure; its number is the command line's exit code.
    public struct Code: RawRepresentable, Hashable, Sendable {
        /// The exit code, numbered as in aria2.
        public let rawValue: UInt8

        /// Creates a code from its number.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The kind of failure.
    public var code: Code
    /// The operation that failed.
    public var what: String
    /// The redacted URL or the path for which it failed.
    public var place: String
    /// The cause.
    public var why: String { didSet { if why != oldValue { cause = nil } } }
    /// The remedy, empty if there is none.
    public var remedy: String
    /// Resume data in errors of a session's tasks that had received something; else `nil`.
    ///
    /// Used as that of a cancelled task: once, in any session of the same state folder.
    public package(set) var downloadTaskResumeData: [UInt8]?

    /// The URL whose request failed, redirects followed; for other failures of a download its URL.
    ///
    /// Unlike ``place`` it is not redacted: passwords and signed queries are in it. No text shows it, and it is
    /// neither stored nor encoded. `nil` for an error that is not of a download.
    public package(set) var failingURL: String?

    /// The response that ended the download, or the last one before its connection failed: status, header
    /// fields and URL; `nil` if there was none.
    public internal(set) var response: DownloadResponse?
    /// The whole body of that response, for sessions: it is the content of a response with an error status.
    package internal(set) var responseBody: [UInt8]?
    /// The status code of the server's response, if that is the failure.
    public var status: Int?
    /// The wait that the server requests (Retry-After), with ``status``.
    public var retryAfter: Duration?
    /// The error that a closure of ``DownloadHooks`` threw; two errors are equal if it is the same one.
    public var underlying: (any Error)? { underlyingError?.error }
    private var underlyingError: UnderlyingError?
    /// The fault of the connection, if that is the cause.
    private var fault: TransferFault.Kind?

    /// The refused option.
    private var refused: OptionID?
    /// ``remedy`` as a value.
    private var advice: Remedy

    /// ``why`` as a message for translation, if it is one.
    package private(set) var cause: LocalizableMessage?

    /// The whole sentence.
    public var description: String { failure.description }

    /// Creates an error, for tests, and for what a program reports in the same way.
    ///
    /// `what` is the operation and `place` its URL or path, as in "cannot download https://example.org/a: the host is not
    /// reachable; try again later".
    public init(
        _ code: Code, what: String = "cannot download", place: String, why: String, remedy: String = "",
        status: Int? = nil, retryAfter: Duration? = nil, response: DownloadResponse? = nil,
        underlying: (any Error)? = nil
    ) {
        var failure = Failure(
            Failure.Code(rawValue: code.rawValue), what, at: place, because: why, remedy: Remedy(remedy))
        failure.status = status
        failure.retryAfter = retryAfter.map { Interval($0) }
        failure.underlying = underlying.map { UnderlyingError($0) }
        self.init(failure)
        self.response = response
    }

    /// `url`: that of the download, where the failure has none.
    package init(_ failure: Failure, of url: String? = nil) {
        code = Code(rawValue: failure.code.rawValue)
        what = failure.what
        place = failure.place
        why = failure.why
        remedy = failure.remedy.text
        refused = failure.refused
        cause = failure.cause
        advice = failure.remedy
        status = failure.status
        retryAfter = failure.retryAfter.map { Duration($0) }
        underlyingError = failure.underlying
        fault = failure.fault
        failingURL = failure.url ?? url
    }

    package var failure: Failure {
        let remedy = advice.text == remedy ? advice : Remedy(remedy)
        let code = Failure.Code(rawValue: code.rawValue)
        var failure =
            if let cause { Failure(code, what, at: place, because: cause, remedy: remedy) } else {
                Failure(code, what, at: place, because: why, remedy: remedy)
            }
        failure.refused = refused
        failure.status = status
        failure.retryAfter = retryAfter.map { Interval($0) }
        failure.underlying = underlyingError
        failure.fault = fault
        failure.url = failingURL
        return failure
    }
}
