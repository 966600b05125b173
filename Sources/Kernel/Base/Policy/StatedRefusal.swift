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
