import PawlCore
import PawlEngine

/// Stands before the receiver of a transfer and answers a 401 in its place, as if the redirect were to the same address.
///
/// So whatever a 401 brings is bounded like the page of a redirect: a short body is read for the sake of the connection,
/// a longer one costs it.
final class LoginSink: TransferSink {
    private let target: any TransferSink
    private let login: Credentials
    private let logins: Logins
    private var request: TransferRequest
    private let restart: (TransferRequest, TransferID, any TransferSink) -> Void
    /// Whether the request that is under way answers a challenge of its own.
    private var isAnswer = false
    /// How many challenges were answered.
    private var answers = 0
    private var offersOnlyBasic = false
    private var isStartingOver = false

    /// Of a fresh challenge and one that a nonce was too old for.
    private static let mostAnswers = 2

    init(
        before target: any TransferSink,
        _ request: TransferRequest,
        _ login: Credentials,
        _ logins: Logins,
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
            if isAnswer { logins.note(request, takesBasic: offersOnlyBasic) }
            return target.transfer(id, head: head)
        }
        if let authorization = authorization(for: head) {
            request.authorization = authorization
            isAnswer = true
            answers += 1
            isStartingOver = true
            return false
        }
        logins.note(request, takesBasic: false)
        return target.transfer(id, head: head)
    }

    /// The field to ask again with; `nil` when the login was refused, or cannot be told as the server wants it.
    private func authorization(for head: ResponseHead) -> String? {
        let challenges = LoginChallenge.all(in: head)
        if isAnswer {
            let isStale = challenges.compactMap(DigestChallenge.init).contains(where: \.isStale)
            guard isStale, answers < Self.mostAnswers else { return nil }
        }
        offersOnlyBasic = challenges.allSatisfy { $0.scheme == "basic" }
        return Logins.answer(challenges, login, for: request.address)
    }

    func transfer(_ id: TransferID, chunk: UnsafeRawBufferPointer) -> ChunkResult {
        unsafe target.transfer(id, chunk: chunk)
    }

    func transferEnded(_ id: TransferID, _ end: TransferEnd) {
        guard isStartingOver else { return target.transferEnded(id, end) }
        isStartingOver = false
        restart(request, id, self)
    }

    func spliceTarget(_ id: TransferID) -> SpliceTarget? { target.spliceTarget(id) }

    func transfer(_ id: TransferID, spliced count: Int) -> ChunkResult {
        target.transfer(id, spliced: count)
    }
}
