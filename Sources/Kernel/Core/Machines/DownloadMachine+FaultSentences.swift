// What the failure of a request says.
import PawlBase
import PawlJournal

extension DownloadMachine {
    func describe(_ fault: AttemptFault, _ disposition: RetryPolicy.Disposition, source: Int) -> Failure {
        var failure = description(of: fault, disposition, source: source)
        failure.url = sources[source].current.text
        return failure
    }

    private func description(of fault: AttemptFault, _ disposition: RetryPolicy.Disposition, source: Int) -> Failure {
        let place = sources[source].current.redacted
        let kept = kept("\(.resume) to continue")
        func failure(_ doing: String = "cannot fetch", because why: LocalizableMessage, remedy: Remedy) -> Failure {
            Failure(disposition.code, doing, at: place, because: why, remedy: remedy)
        }
        switch fault {
        case .transfer(let fault):
            let broken = broken(fault, from: source)
            var result = failure(
                because: broken?.why ?? fault.message,
                remedy: fault.remedy ?? broken?.remedy ?? (kept.isEmpty ? fault.otherwise : kept))
            result.fault = fault.kind
            return result
        case .silent(let hasResponse):
            let span = plan.timeout.seconds
            return failure(
                because: hasResponse
                    ? .noData(for: "\(span)") : LocalizableMessage("silent-no-response", "no response for \(span) s"),
                remedy: kept.isEmpty ? "try again later, or increase \(.option(.timeout))" : kept)
        case .tooSlow(let floor):
            return failure(
                because: LocalizableMessage(
                    "too-slow", "no more than \(floor) bytes per second for \(LaneSpeed.patience.seconds) s"),
                remedy: self.kept(
                    "lower \(.option(.lowestSpeed)) to accept this speed",
                    otherwise: "lower \(.option(.lowestSpeed)) to accept this speed"))
        case .status(let status, let retryAfter):
            // A shorter one is no longer than that of a retry without it.
            let long = retryAfter.flatMap { $0 > RetryPolicy.longestWait ? $0 : nil }
            let isCut = long.map { $0 > plan.retry.longestRetryAfter } ?? false
            var result = failure(
                because: long.map { .httpStatus(status, wait: $0) } ?? .httpStatus(status),
                remedy: isCut
                    ? "try again later, or increase \(.option(.maximumRetryAfter))"
                    : StatusAdvice.remedy(for: status, sources[source].current.scheme)
                        ?? (kept.isEmpty ? StatusAdvice.otherwise(for: status) : kept))
            result.status = status
            result.retryAfter = retryAfter
            return result
        case .refused(let refusal, let retryAfter):
            var result = refusal.failure("cannot fetch", sources[source].current)
            if result.remedy.isEmpty { result.remedy = kept }
            result.retryAfter = retryAfter
            return result
        case .page(let evidence), .suspectPage(let evidence):
            return failure(
                "cannot use the response of", because: evidence,
                remedy: self.kept(
                    "\(.resume) when the server has the file again, or choose another name",
                    otherwise: "try again when the server has the file"))
        case .unproven(let evidence), .rangeRefused(let evidence):
            return failure("cannot use the response of", because: evidence, remedy: kept.isEmpty ? Self.askOwner : kept)
        case .badRedirect(let why): return failure("cannot follow the redirect of", because: why, remedy: Self.askOwner)
        case .downgrade(let target):
            return failure(
                "cannot follow the redirect of",
                because: LocalizableMessage("redirect-not-encrypted", "it leads to \(target), which is not encrypted"),
                remedy: "allow it with \(.option(.allowsDowngrade)) if this is intended")
        case .tooManyRedirects(let most):
            return failure(
                because: LocalizableMessage("too-many-redirects", "more than \(most) redirects"),
                remedy: "increase \(.option(.maximumRedirects))")
        }
    }
}

extension AttemptFault {
    /// Whether the status is one for addresses that have expired or need a signature that they lack.
    var isExpiry: Bool {
        if case .status(let status, _) = self { [401, 403, 404, 410].contains(status) } else { false }
    }

    /// Whether servers that limit connections without saying so fail in this way.
    var mayMeanTooMany: Bool {
        switch self {
        case .status(let status, _): [403, 409, 420, 509].contains(status)
        // Among FTP's temporary replies is 421, too many connections.
        case .transfer(let fault): fault.kind == .connectionLost || fault.kind == .serverRefused
        case .silent, .tooSlow, .refused, .unproven, .page, .suspectPage, .rangeRefused, .badRedirect, .downgrade,
            .tooManyRedirects:
            false
        }
    }

    /// How the connection was refused, if it was.
    var reasonOfRefusal: HostNote.Reason? {
        switch self {
        case .status(let status, _): .status(status)
        // The server's words for it.
        case .refused: .status(503)
        case .transfer(let fault) where fault.kind == .connectionRefused: .connection
        case .transfer(let fault) where fault.kind == .connectionLost: .reset
        case .transfer(let fault) where fault.kind == .serverRefused: .reply
        case .transfer, .silent, .tooSlow, .unproven, .page, .suspectPage, .rangeRefused, .badRedirect, .downgrade,
            .tooManyRedirects:
            nil
        }
    }

    var retryAfter: Interval? {
        switch self {
        case .status(_, let span), .refused(_, let span): span
        case .transfer, .silent, .tooSlow, .unproven, .page, .suspectPage, .rangeRefused, .badRedirect, .downgrade,
            .tooManyRedirects:
            nil
        }
    }
}

extension TransferFault {
    /// The same without any other evidence, if no bytes are kept.
    fileprivate var otherwise: Remedy {
        switch kind {
        case .malformed: DownloadMachine.askOwner
        case .commandRefused: "check the URL"
        // The host is the proxy's if there is one; the cause names it.
        case .unreachable, .connectionRefused, .connectTimeout: "check the host and the port, or try again later"
        case .connectionLost, .truncated, .tls, .publicKey, .denied, .nameResolution, .nameMissing, .proxy, .notFound,
            .privateAddress, .serverRefused, .offsetRefused, .contentChanged, .other:
            "try again later"
        }
    }
}

/// What a user can do about a status code.
enum StatusAdvice {
    static func remedy(for status: Int, _ scheme: WebAddress.Scheme) -> Remedy? {
        switch status {
        // nginx and others respond so to HTTP on a port for TLS, and where a certificate is missing or rejected.
        case 400 where scheme == .http: "check the URL: https:// may be meant"
        case 400: "check the URL, and \(.option(.certificate)) if the server requires one"
        case 401: "give or correct \(.option(.user))"
        case 403: "the URL may have expired, or require a login, cookies or a referer"
        case 404, 410: "check the URL"
        case 407: "give the proxy's user name and password in \(.option(.proxy))"
        case 416: "the file may have changed there: try again, or check \(.option(.range))"
        case 429, 503: "try again later, or with fewer connections"
        case _: nil
        }
    }

    /// The fault for a status without any other evidence, if no bytes are kept.
    static func otherwise(for status: Int) -> Remedy {
        (500..<600).contains(status) ? "try again later" : "check the URL"
    }
}
