package import PawlBase

/// The decisions of a download that the program wants to make itself.
///
/// Empty for nearly all downloads: each place that asks costs one branch then.
package struct HookSet: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Each request may be changed before it is sent.
    package static let adapt = HookSet(rawValue: 1)
    /// A 401, a 407 or a refused login may be followed by another login.
    package static let authenticate = HookSet(rawValue: 2)
    package static let redirect = HookSet(rawValue: 4)
    /// Each response is presented before its first byte is used.
    package static let validate = HookSet(rawValue: 8)
    /// Each retry, and each failure, may be decided otherwise.
    package static let retry = HookSet(rawValue: 16)
}

/// The identity of a question; never used twice in a run.
package struct HookID: Hashable, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }
}

/// A question to the program: plain values, no closure.
package enum HookQuestion: Hashable, Sendable {
    /// The request that is about to be sent, after so many redirects.
    case adapt(address: WebAddress, RequestedRange, redirects: Int)
    /// The address refused the login, so many times after one of the program's own; `head` is `nil` for FTP and SFTP.
    case authenticate(address: WebAddress, head: ResponseHead?, failures: Int)
    case redirect(from: WebAddress, to: WebAddress, head: ResponseHead, redirects: Int)
    /// A response that would be used, or an error status. `length` is that of the file, if known.
    case validate(address: WebAddress, head: ResponseHead, length: Int64?, resumedAt: Int64)
    /// An attempt failed; without the program it would be repeated after `wait`, or not at all.
    case retry(Failure, attempt: Int, wait: Interval?)
}

/// A question with its identity, and the lane that waits for the reply; `nil` where the download does.
package struct HookOrder: Hashable, Sendable {
    package var id: HookID
    package var lane: LaneID?
    package var question: HookQuestion
}

/// The program's reply.
///
/// What contains a secret (a login, header fields) stays in the shell: machines are compared, copied and shown.
package enum HookDecision: Hashable, Sendable {
    /// Continue: send the request, repeat it with the new login, follow the redirect, use the response.
    case proceed
    /// What happens without a hook: the refused login is a failure, the attempt is repeated or not.
    case decline
    case redirect(to: WebAddress)
    /// Do not follow the redirect: its status is the failure.
    case refuseRedirect
    /// Keep the content in memory if it has at most this many bytes, instead of in a file.
    case memory(Int64)
    case retry(after: Interval)
    /// End the download.
    case fail(Failure)
}

/// A lane's question without a reply yet.
package struct PendingQuestion: Hashable, Sendable {
    package indirect enum Kind: Hashable, Sendable {
        case adapt
        case authenticate(AttemptFault)
        case redirect(to: WebAddress, status: Int)
        case validate(ResponseHead, wallTime: UnixTime)
    }

    package var id: HookID
    package var kind: Kind
}

/// A failed attempt that the program is to decide about.
struct PendingFailure: Hashable, Sendable {
    var id: HookID
    var failure: Failure
    var source: Int
    /// The wait before the next attempt; `nil` where there is none.
    var wait: Interval?
}
