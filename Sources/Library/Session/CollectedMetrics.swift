#if Queue
import Pawl
import PawlBase

/// What was measured of a task's requests, over its suspensions.
///
/// A suspended transfer is continued by new requests, those to redirects and those that are challenged included. For the
/// task they are the ones that it had before: a redirect is one, however often it was requested, and so is the content.
struct CollectedMetrics: Hashable {
    private(set) var list: [TransferMetrics] = []
    private static let most = 256

    /// Adds the requests between two interruptions.
    mutating func append(_ run: [TransferMetrics]) {
        var run = run[...]
        var earlier = list
        while let first = run.first, first.isStep,
            let index = earlier.firstIndex(where: { $0.hasSameResult(as: first) })
        {
            earlier.remove(at: index)
            run.removeFirst()
        }
        if let last = list.last, last.isCut, let first = run.first, first.continues(last) {
            list[list.count - 1] = last.continued(by: first)
            run.removeFirst()
        }
        list += run.prefix(max(0, Self.most - list.count))
    }
}

extension TransferMetrics {
    fileprivate var status: Int { response?.status ?? 0 }
    /// Its response leads to another request: a redirect, or a challenge.
    fileprivate var isStep: Bool { 300..<400 ~= status || status == 401 || status == 407 }
    /// It had begun and was no failure: an interruption ended it.
    fileprivate var isCut: Bool { response == nil || 200..<300 ~= status }

    fileprivate func hasSameResult(as other: TransferMetrics) -> Bool {
        status == other.status && url.hasSameBytes(as: other.url) && Bytewise(location) == Bytewise(other.location)
    }

    /// Whether it is the same transfer, which an interruption had ended.
    fileprivate func continues(_ earlier: TransferMetrics) -> Bool {
        url.hasSameBytes(as: earlier.url) && (earlier.response == nil || isCut)
    }

    /// The same transfer with its rest; without a response it is only the later one.
    fileprivate func continued(by rest: TransferMetrics) -> TransferMetrics {
        guard response != nil else { return rest }
        var whole = self
        whole.received += rest.received
        whole.responseEnd = rest.responseEnd
        return whole
    }

    /// The target of a redirect; empty without one.
    private var location: String { response?.fields.first { $0.name.lowercased() == "location" }?.value ?? "" }
}
#endif
