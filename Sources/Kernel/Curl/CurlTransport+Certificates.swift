import CCurl
import PawlBase
import PawlHTTP

// Requests whose certificates a judge sees before anything is sent.
extension CurlTransport {
    private static let mostAccepted = 256

    /// Begins a check when the request needs one; `false` when it can be sent.
    func checkCertificates(
        _ request: TransferRequest, as id: TransferID, sink: any TransferSink
    ) throws(TransferFault) -> Bool {
        guard request.address.scheme == .https, let judge = request.judge else { return false }
        guard TLSContext.isReachable else { throw TransferFault.certificatesNotShown }
        let check = try CertificateCheck(request, sink, judge)
        try multi.add(check.easy)
        checks[id] = check
        return true
    }

    /// The request with what was decided about its server before.
    func judged(_ request: TransferRequest) -> TransferRequest {
        guard request.judge != nil, let settings = accepted[ConnectionKey(request)] else { return request }
        var request = request
        request.settings = settings
        request.judge = nil
        return request
    }

    func cancelCheck(_ id: TransferID) -> Bool {
        guard let check = checks.removeValue(forKey: id) else { return false }
        multi.remove(check.easy)
        return true
    }

    /// The check whose connection is finished; `false` when the handle is none's.
    func endChecking(_ handle: UnsafeMutableRawPointer?, _ code: CURLcode) -> Bool {
        let found = checks.first { unsafe $0.value.easy.raw == handle }
        guard let (id, check) = found else { return false }
        if code == CURLE_OK, let question = check.question() {
            multi.remove(check.easy)
            ask(check, id, question, isForClient: false)
        } else if check.requestsCertificate {
            // Many servers end the handshake without one.
            multi.remove(check.easy)
            ask(check, id, check.question(.client), isForClient: true)
        } else {
            let fault =
                code == CURLE_OK
                ? .certificatesNotShown : check.easy.fault(code, of: check.request, isHTTP: true, hasHead: false)
            let refusal = code == CURLE_OK ? nil : check.easy.tunnelRefusal
            multi.remove(check.easy)
            if let refusal, var head = ResponseHead(parsing: refusal) {
                head.lines = refusal
                endCheck(id, with: head)
            } else {
                endCheck(id, fault)
            }
        }
        return true
    }

    private func ask(_ check: CertificateCheck, _ id: TransferID, _ question: CertificateQuestion, isForClient: Bool) {
        let (decisions, wake) = (decisions, poller.wake)
        check.judge(question) { decision in
            decisions.post(CertificateVerdict(id: id, isForClient: isForClient, decision: decision))
            wake()
        }
    }

    /// Carries out the decisions of judges.
    func takeDecisions() {
        for item in decisions.take() {
            guard let check = checks[item.id] else { continue }
            let values: TransferSettings.Values
            do throws(TransferFault) { values = try Self.values(of: check, after: item) } catch {
                endCheck(item.id, error)
                continue
            }
            if !item.isForClient, check.requestsCertificate {
                check.decided = values
                ask(check, item.id, check.question(.client), isForClient: true)
            } else {
                proceed(item, check, values)
            }
        }
    }

    /// The settings of the check's request as the decision changes them.
    private static func values(
        of check: CertificateCheck, after item: CertificateVerdict
    ) throws(TransferFault) -> TransferSettings.Values {
        var values = check.request.settings.values
        switch item.decision {
        case .refuse:
            throw .certificateRejected
        case .accept where !item.isForClient:
            values.verifiesPeer = false
            values.acceptedKey = check.key
        case .certificate(let file, let key) where item.isForClient:
            values.certificate = file
            values.key = key
        case .usual, .accept, .certificate:
            if !item.isForClient {
                if let problem = check.problem, values.verifiesPeer {
                    throw TransferFault(.tls, CertificateText.untrusted(problem))
                }
                values.acceptedKey = check.key
            } else if check.key == nil {
                // The handshake failed without a certificate, and there is none.
                throw TransferFault(
                    .tls, LocalizableMessage("fault-client-certificate", "the server requires a client certificate"))
            }
        }
        return values
    }

    private func proceed(
        _ item: CertificateVerdict, _ check: CertificateCheck, _ values: TransferSettings.Values
    ) {
        checks[item.id] = nil
        var values = values
        if let decided = check.decided {
            values.verifiesPeer = decided.verifiesPeer
            values.acceptedKey = decided.acceptedKey
        }
        let isSeen = check.key != nil
        let settings = TransferSettings(values)
        var request = check.request
        let key = ConnectionKey(request)
        request.settings = settings
        if isSeen {
            if accepted.count >= Self.mostAccepted { accepted = [:] }
            accepted[key] = settings
            request.judge = nil
        }
        // Without a finished handshake the server's own certificate is still to be judged.
        start(request, as: item.id, sink: check.sink)
    }

    /// Reports that a proxy requires a login for the tunnel; the request with that login is checked again.
    private func endCheck(_ id: TransferID, with head: ResponseHead) {
        guard let check = checks.removeValue(forKey: id) else { return }
        let isWanted = check.sink.transfer(id, head: head)
        check.sink.transferEnded(id, isWanted ? .complete : .stopped)
    }

    private func endCheck(_ id: TransferID, _ fault: TransferFault) {
        guard let check = checks.removeValue(forKey: id) else { return }
        refuse(id, fault, to: check.sink)
    }
}
