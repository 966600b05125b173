import Pawl
import PawlBase
import PawlJournal
import PawlSystem

/// Posts webhook deliveries to one URL, in order, with a limited number of retries.
final class WebhookSender: Sendable {
    static let attempts = 5
    static let room = 1000

    private let queue = WorkQueue("pawl-webhook", .brief, room: WebhookSender.room)
    /// Ends the wait for the next attempt.
    private let closing = Latch()
    private let address: String
    private let log: ServiceLog?
    private let firstDelay: Double
    private let deniesPrivateAddresses: Bool

    /// `firstDelay` in seconds, doubled with each attempt.
    ///
    /// A private network is allowed if the URL's host is private, or with `allowsPrivate`: a public host's
    /// name may resolve to any address by the time of a delivery.
    init(_ address: String, allowsPrivate: Bool = false, log: ServiceLog?, firstDelay: Double = 1) {
        self.address = address
        deniesPrivateAddresses = !allowsPrivate && !PrivateNetworks.isNamed(by: address)
        self.log = log
        self.firstDelay = firstDelay
    }

    /// Calls `done` after the delivery succeeded or was given up, but not if this is closed before.
    func send(_ message: [UInt8], done: @escaping @Sendable () -> Void = {}) {
        guard queue.hasRoom else {
            log?.note(Failure(.unknown, "dropped a webhook delivery to", at: place, because: "too many are waiting"))
            return done()
        }
        queue.submit { [self] in if deliver(message) { done() } }
    }

    /// Starts no further delivery; the current one may still arrive.
    func close() {
        queue.close()
        closing.open()
    }

    private var place: String { Redaction.address(address) }

    /// `false` if this was closed before it was delivered or given up.
    private func deliver(_ message: [UInt8]) -> Bool {
        var delay = firstDelay
        for attempt in 1...WebhookSender.attempts {
            let failure: Failure
            let isPublic = deniesPrivateAddresses
            switch HTTPPoster.send(message, to: address, deniesPrivateAddresses: isPublic) {
            case .success(200..<300): return true
            case .success(let status):
                failure = Failure(.badResponse, "cannot post to", at: place, because: .httpStatus(status))
                // A retry would get the same response.
                if status < 500, status != 408, status != 429 {
                    log?.note(failure)
                    return true
                }
            case .failure(let reason): failure = reason
            }
            if queue.isClosed { return false }
            if attempt == WebhookSender.attempts {
                log?.note(failure)
                return true
            }
            if closing.pass(until: SystemClock().now + .seconds(delay)) { return false }
            delay *= 2
        }
        return true
    }
}
