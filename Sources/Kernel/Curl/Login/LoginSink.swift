import PawlBase

/// Intercepts a 401 before a transfer's receiver and repeats the request with a login, like a redirect to the same URL.
///
/// So the body of a 401 is bounded like that of a redirect: a short body is read so that the connection can be reused,
/// a longer one closes it.
final class LoginSink: ForwardingSink {
    let target: any TransferSink
    private let login: Credentials
    private let logins: Logins
    private var request: TransferRequest
    private let restart: (TransferRequest, TransferID, any TransferSink) -> Void
    private var attempts = LoginAttempts()
    private var offersOnlyBasic = false
    private var isStartingOver = false

    init(
        before target: any TransferSink, _ request: TransferRequest, _ login: Credentials, _ logins: Logins,
        restart: @escaping (TransferRequest, TransferID, any TransferSink) -> Void
    ) {
        self.target = target
        self.request = request
        self.login = login
        self.logins = logins
        self.restart = restart
    }

    func transfer(_ id: TransferID, head: ResponseHead) -> Bool {
        guard head.status == 401 else {
            if attempts.isRetry { logins.note(request, takesBasic: offersOnlyBasic) }
            return target.transfer(id, head: head)
        }
        if let authorization = authorization(for: head) {
            request.authorization = authorization
            isStartingOver = true
            return false
        }
        logins.note(request, takesBasic: false)
        return target.transfer(id, head: head)
    }

    /// The field for the next request; `nil` when the login was rejected, or the server supports no usable scheme.
    private func authorization(for head: ResponseHead) -> String? {
        let challenges = LoginChallenge.all(in: head)
        guard attempts.take(challenges) else { return nil }
        offersOnlyBasic = challenges.allSatisfy { $0.scheme == "basic" }
        return Logins.response(challenges, login, for: request.address)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        guard isStartingOver else { return target.transferEnded(id, end) }
        isStartingOver = false
        restart(request, id, self)
    }
}
