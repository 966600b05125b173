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
