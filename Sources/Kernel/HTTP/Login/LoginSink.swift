import PawlBase

/// Intercepts a 401, or a 407 of a proxy that reads requests, before a transfer's receiver and repeats the request with a login,
/// like a redirect to the same URL.
///
/// So the body of such a response is bounded like that of a redirect: a short body is read so that the connection can be
/// reused, a longer one closes it.
final class LoginSink: ForwardingSink {
    /// Who requires the login.
    enum Side {
        case origin
        case proxy(ProxyRoute)

        var status: Int { if case .origin = self { 401 } else { 407 } }
    }

    let target: any TransferSink
    private let side: Side
    private let login: Credentials
    private let logins: Logins
    private var request: TransferRequest
    private let restart: (TransferRequest, TransferID, any TransferSink) -> Void
    private var attempts = LoginAttempts()
    private var offersOnlyBasic = false
    private var isStartingOver = false

    init(
        before target: any TransferSink, _ request: TransferRequest, _ login: Credentials, _ logins: Logins,
        for side: Side = .origin, restart: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        self.target = target
        self.request = request
        self.login = login
        self.logins = logins
        self.side = side
        self.restart = restart
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        guard head.status == side.status else {
            if attempts.isRetry { logins.note(request, side, takesBasic: offersOnlyBasic) }
            return target.transfer(id, head: head)
        }
        if let authorization = authorization(for: head) {
            switch side {
            case .origin: request.authorization = authorization
            case .proxy: request.proxyAuthorization = authorization
            }
            isStartingOver = true
            return false
        }
        logins.note(request, side, takesBasic: false)
        return target.transfer(id, head: head)
    }

    /// The field for the next request; `nil` when the login was rejected, or no usable scheme is supported.
    private func authorization(for head: ResponseHead) -> String? {
        let challenges = LoginChallenge.all(in: head)
        guard attempts.take(challenges) else { return nil }
        offersOnlyBasic = challenges.allSatisfy { $0.scheme == "basic" }
        let address = request.address
        let path = address.query.map { "\(address.path)?\($0)" } ?? address.path
        return Logins.response(challenges, login, target: path)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        guard isStartingOver else { return target.transferEnded(id, end) }
        isStartingOver = false
        restart(request, id, self)
    }
}
