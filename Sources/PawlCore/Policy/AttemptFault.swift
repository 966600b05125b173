/// Why one attempt (one request of one lane) came to nothing.
package enum AttemptFault: Hashable, Sendable {
    case transfer(TransferFault)
    /// Nothing came for longer than the time-out; `answered` says whether the head had come.
    case silent(answered: Bool)
    /// It brought no more than so many bytes a second, the lowest speed, for some time.
    case tooSlow(Int64)
    /// The server answered with this status.
    case status(Int, retryAfter: Interval?)
    /// The answer failed its proof, with the evidence.
    case unproven(LocalizableMessage)
    /// A web page stood where the known content was expected, with the evidence.
    case page(LocalizableMessage)
    /// A page of another size stood where a page was: if it comes again, that is the content now.
    case suspectPage(LocalizableMessage)
    /// A redirect that may not be followed, with the reason.
    case badRedirect(String)
    /// A redirect from https to this address of http.
    case downgrade(to: String)
    case tooManyRedirects(Int)
}
