import Pawl
import PawlBase
import PawlJournal
import PawlSystem
import Synchronization

/// Posts webhook deliveries to one URL, in order, with a limited number of retries.
final class WebhookSender: Sendable {
    static let attempts = 5
    static let room = 1000

    private struct Order {
        var message: [UInt8]
        var done: @Sendable () -> Void
    }

    private struct State {
        /// The first is being delivered while a thread is working.
        var waiting: [Order] = []
        var isWorking = false
        var isClosed = false
    }

    private let state = Mutex(State())
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
        enum Turn { case now, later, never }
        let turn = state.withLock { state -> Turn in
            guard !state.isClosed else { return .later }
            guard state.waiting.count < WebhookSender.room else { return .never }
            state.waiting.append(Order(message: message, done: done))
            defer { state.isWorking = true }
            return state.isWorking ? .later : .now
        }
        switch turn {
        case .now: SystemThread.detached("pawl-webhook") { self.work() }
        case .later: break
        case .never:
            log?.note(Failure(.unknown, "dropped a webhook delivery to", at: place, because: "too many are waiting"))
            done()
        }
    }

    /// Starts no further delivery; the current one may still arrive.
    func close() {
        state.withLock { state in
            state.waiting = []
            state.isClosed = true
        }
    }

    private var place: String { Redaction.address(address) }

    private func work() {
        while let order = next() {
            guard deliver(order.message) else { return }
            order.done()
            state.withLock { if !$0.waiting.isEmpty { $0.waiting.removeFirst() } }
        }
    }

    private func next() -> Order? {
        state.withLock { state in
            if state.waiting.isEmpty { state.isWorking = false }
            return state.waiting.first
        }
    }

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
            if state.withLock(\.isClosed) { return false }
            if attempt == WebhookSender.attempts {
                log?.note(failure)
                return true
            }
            SystemThread.sleep(seconds: delay)
            if state.withLock(\.isClosed) { return false }
            delay *= 2
        }
        return true
    }
}
