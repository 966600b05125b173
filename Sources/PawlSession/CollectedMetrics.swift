import Pawl

/// What was measured of a task's requests, over its suspensions.
///
/// A suspended transfer is continued by new requests, those to redirects included. For the task they are the ones that it
/// had before: a redirect is one, however often it was requested, and so is the content.
struct CollectedMetrics: Hashable {
    private(set) var list: [TransferMetrics] = []
    private static let most = 256

    /// Adds the requests between two interruptions.
    mutating func append(_ run: [TransferMetrics]) {
        var run = run[...]
        if let last = list.last, !last.isRedirect {
            while let first = run.first, first.isRedirect, list.contains(where: { $0.repeats(first) }) {
                run.removeFirst()
            }
            if let first = run.first, first.url == last.url, last.isCut {
                list[list.count - 1] = last.continued(by: first)
                run.removeFirst()
            }
        }
        list += run.prefix(max(0, Self.most - list.count))
    }
}

extension TransferMetrics {
    fileprivate var status: Int { response?.status ?? 0 }
    fileprivate var isRedirect: Bool { 300..<400 ~= status }
    /// It had begun and was no failure: an interruption ended it.
    fileprivate var isCut: Bool { response == nil || 200..<300 ~= status }

    fileprivate func repeats(_ other: TransferMetrics) -> Bool {
        (url, status, response?.location) == (other.url, other.status, other.response?.location)
    }

    /// The same transfer with its rest; without a response it is only the later one.
    fileprivate func continued(by rest: TransferMetrics) -> TransferMetrics {
        guard response != nil else { return rest }
        var whole = self
        whole.received += rest.received
        whole.responseEnd = rest.responseEnd
        return whole
    }
}

extension DownloadResponse {
    fileprivate var location: String? { fields.first { $0.name.lowercased() == "location" }?.value }
}
