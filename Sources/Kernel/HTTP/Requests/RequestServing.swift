package import PawlBase

/// Stands for all servers, without connections: for tests of programs.
///
/// Sinks are only called from within `begin` and `work`.
package protocol RequestServing: AnyObject {
    /// `head`: the request's header section, as it would be sent.
    func serve(_ head: [UInt8], for request: TransferRequest, as id: TransferID, sink: any TransferSink)
    /// As `Transport` has them.
    func cancel(_ id: TransferID)
    func resume(_ id: TransferID)
    func begin() -> Instant?
    func work()
}

/// Makes one for each loop, on the loop's own thread.
package protocol RequestServerMaker: Sendable { func makeServer(on poller: any Poller) -> any RequestServing }

/// Keeps the cookies of a response.
final class CookieSink: ForwardingSink {
    let target: any TransferSink
    private let request: TransferRequest
    private let cookies: OriginCookies

    init(before target: any TransferSink, _ request: TransferRequest, _ cookies: OriginCookies) {
        self.target = target
        self.request = request
        self.cookies = cookies
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        let fields = head.fields.filter { $0.name.utf8.isCaseInsensitively("set-cookie") }.map(\.value)
        if !fields.isEmpty { cookies.store(fields, from: request) }
        return target.transfer(id, head: head)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) { target.transferEnded(id, end) }
}
