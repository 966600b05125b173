import Glibc
import Pawl
import PawlBase
import Synchronization

/// The decisions about each download since the service started, and its server's response.
///
/// Bounded: the last entries of the most recently active downloads.
final class DecisionLog: DownloadDelegate {
    private struct Page {
        var entries: [JSON] = []
        var response: DownloadResponse?
        /// The failure after which it was last retried.
        var retry: JSON?
        var touched = 0
    }

    private struct State {
        var pages: [Download.ID: Page] = [:]
        var clock = 0
    }

    private static let entriesOfOne = 100
    private static let downloads = 2000

    private let state = Mutex(State())

    func note(_ event: DownloadEvent) {
        switch event.kind {
        case .changed, .queueChanged, .missed, .state(.probing), .state(.transferring): return
        case .state(.removed): state.withLock { $0.pages[event.id] = nil }
        case .state, .started, .notice, .retry, .finished, .failed, .added:
            guard case .object(var members) = ServiceJSON.json(event) else { return }
            members.removeAll { $0.name == "id" }
            members.append(JSON.Member("at", .number(Int64(time(nil)))))
            if case .notice(let notice) = event.kind {
                members.removeAll { $0.name == "message" }
                members += ServiceJSON.members(notice.message)
            }
            let retry: JSON? =
                if case .retry(let error, _) = event.kind { .object(ServiceJSON.members(error)) } else { nil }
            edit(event.id) { page in
                page.retry = retry ?? page.retry
                page.entries.append(.object(members))
                if page.entries.count > DecisionLog.entriesOfOne { page.entries.removeFirst() }
            }
        }
    }

    func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?) {
        guard var response else { return }
        // Not shown; cookies are among them.
        response.fields = []
        edit(id) { [response] in $0.response = response }
    }

    private func edit(_ id: Download.ID, _ change: (inout Page) -> Void) {
        state.withLock { state in
            state.clock += 1
            change(&state.pages[id, default: Page()])
            state.pages[id]?.touched = state.clock
            guard state.pages.count > DecisionLog.downloads * 2 else { return }
            let oldest = state.pages.sorted { $0.value.touched < $1.value.touched }
            for (id, _) in oldest.prefix(DecisionLog.downloads) { state.pages[id] = nil }
        }
    }

    /// The failure that it waits for the next attempt after.
    func lastRetry(of id: Download.ID) -> JSON? { state.withLock { $0.pages[id]?.retry } }

    /// Members for a download's details.
    func members(of id: Download.ID) -> [JSON.Member] {
        let page = state.withLock { $0.pages[id] }
        return [
            JSON.Member("log", .array(page?.entries ?? [])),
            JSON.Member("response", page?.response.map(DecisionLog.json) ?? .null),
        ]
    }

    private static func json(_ response: DownloadResponse) -> JSON {
        func text(_ value: String?) -> JSON { value.map { .string(Redaction.text($0)) } ?? .null }
        return [
            "status": .number(response.status), "contentType": text(response.contentType),
            "contentDisposition": text(response.contentDisposition), "entityTag": text(response.entityTag),
            "lastModified": response.lastModified.map { .number($0) } ?? .null,
            "contentLength": response.contentLength.map { .number($0) } ?? .null,
        ]
    }
}
