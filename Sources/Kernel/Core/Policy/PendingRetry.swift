package import PawlBase
import PawlJournal

/// The attempt that a download waits for.
package struct PendingRetry: Hashable, Sendable {
    /// Its number, from 1 for the first retry; 0 for a wait that does not count.
    ///
    /// Progress resets the count.
    package var attempt: Int
    /// The number of retries without progress after which the download fails.
    package var limit: Int
    /// Why the last attempt failed, in a word or two: a status code such as `503`, or `timeout`.
    package var reason: String

    package init(attempt: Int, limit: Int, after failure: Failure) {
        self.attempt = attempt
        self.limit = limit
        reason = failure.brief
    }
}

extension Failure {
    /// The cause in a word or two: the response's status code if there is one.
    package var brief: String {
        if let cause, cause.lacksDescriptors { return cause.description.lowercased() }
        if let status = cause?.httpStatus { return status }
        return switch code {
        case .timeout: "timeout"
        case .notFound: "not found"
        case .tooSlow: "too slow"
        case .network: "network error"
        case .nameResolution: "host not found"
        case .badResponse: "bad response"
        case .authorization: "login failed"
        case .overloaded: "server overloaded"
        case .checksumMismatch: "checksum mismatch"
        case .insecure: "not secure"
        case _: "error \(code.rawValue)"
        }
    }
}
