/// Why one attempt (one request of one lane) failed.
package enum AttemptFault: Hashable, Sendable {
    case transfer(TransferFault)
    /// No data for longer than the timeout; `hasResponse` says whether the head had arrived.
    case silent(hasResponse: Bool)
    /// No more than this many bytes per second, the lowest speed, for some time.
    case tooSlow(Int64)
    /// The server responded with this status.
    case status(Int, retryAfter: Interval?)
    /// The server refused the request in words of its own.
    case refused(StatedRefusal, retryAfter: Interval?)
    /// The response contradicts the bytes on disk or the request, with the evidence.
    case unproven(LocalizableMessage)
    /// An HTML page instead of the known content, with the evidence.
    case page(LocalizableMessage)
    /// An HTML page of another size instead of an HTML page: if it comes again, it is the content.
    case suspectPage(LocalizableMessage)
    /// A range of the known content was refused, with the evidence.
    case rangeRefused(LocalizableMessage)
    /// A redirect that may not be followed, with the reason.
    case badRedirect(LocalizableMessage)
    /// A redirect from https to this http address.
    case downgrade(to: String)
    case tooManyRedirects(Int)
}

/// Why a server refused a request, where its own words say more than its status.
package struct StatedRefusal: Hashable, Sendable {
    /// How the attempt is repeated, and which code its failure has.
    package var disposition: RetryPolicy.Disposition
    package var reason: LocalizableMessage
    /// Empty for none.
    package var remedy: Remedy
    package var status: Int

    package init(
        _ disposition: RetryPolicy.Disposition, because reason: LocalizableMessage, remedy: Remedy, status: Int
    ) {
        self.disposition = disposition
        self.reason = reason
        self.remedy = remedy
        self.status = status
    }

    /// The failure of a request for `address`.
    package func failure(_ what: String, _ address: WebAddress) -> Failure {
        var failure = Failure(disposition.code, what, at: address.redacted, because: reason, remedy: remedy)
        failure.status = status
        return failure
    }
}
