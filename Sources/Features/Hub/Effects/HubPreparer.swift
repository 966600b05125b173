package import PawlBase
import PawlHTTP

/// Gives the requests for files of a hub its token, and reads why it refuses one.
package final class HubPreparer: RequestPreparing {
    package init() {}

    package func begin(
        _ request: TransferRequest, for object: WebAddress, as id: TransferID, sink: any TransferSink,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        let access = request.settings.values.accesses[.hf]?.locating as? HubAccess ?? HubAccess()
        var prepared = request
        prepared.fields += access.lines(to: request.address)
        let front = HubSink(before: sink, prepared, access) { request, id, sink in
            var request = request
            request.fields = prepared.fields
            start(request, id, sink)
        }
        start(prepared, id, front)
    }
}

/// Follows the hub's redirects to itself, which need the token, and states its refusals.
///
/// A redirect to another host goes to the transfer's receiver with an absolute URL: what follows has no token.
private final class HubSink: ForwardingSink {
    let target: any TransferSink
    private var request: TransferRequest
    private let access: HubAccess
    private let restart: (TransferRequest, TransferID, any TransferSink) -> Void
    private var redirects = 0
    private var isRedirected = false

    private static let mostRedirects = 5

    init(
        before target: any TransferSink, _ request: TransferRequest, _ access: HubAccess,
        restart: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        self.target = target
        self.request = request
        self.access = access
        self.restart = restart
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        var head = head
        if (300..<400).contains(head.status), let reference = head.location,
            let next = try? request.address.resolving(reference)
        {
            if next.origin == access.endpoint.origin, redirects < Self.mostRedirects {
                redirects += 1
                request.address = next
                isRedirected = true
                return false
            }
            head.location = next.text
        } else if [401, 403, 404, 410, 429].contains(head.status) {
            head.refusal = HubRefusal(head, access).stated
        }
        return target.transfer(id, head: head)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        guard isRedirected else { return target.transferEnded(id, end) }
        isRedirected = false
        restart(request, id, self)
    }

    func holdsBack(_ id: TransferID) -> Bool { !isRedirected && target.holdsBack(id) }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { isRedirected ? nil : target.spliceTarget(id) }
}
