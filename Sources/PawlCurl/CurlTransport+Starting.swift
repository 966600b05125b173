import PawlCore
package import PawlEngine

extension CurlTransport {
    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        let request = judged(request)
        do throws(TransferFault) {
            if try checkCertificates(request, as: id, sink: sink) { return }
            if let object = request.object { return beginObject(request, object, as: id, sink: sink) }
            guard !logins.isGiven(request), let login = try logins.login(for: request, at: clock.now) else {
                return begin(request, as: id, sink: sink)
            }
            try RequestText.check(login)
            begin(request, as: id, sink: sink, with: login)
        } catch {
            join(pool.refusal(of: request, as: id, sink: sink, error), as: id)
        }
    }

    private func begin(
        _ request: TransferRequest,
        as id: TransferID,
        sink: any TransferSink,
        with login: Credentials
    ) {
        var request = request
        switch request.address.scheme {
        case .ftp, .ftps, .sftp:
            request.login = login
            begin(request, as: id, sink: sink)
        // Objects are requested by the URL of their store.
        case .s3: preconditionFailure("a request to an address that has no host")
        case .http, .https:
            if logins.takesBasic(request) { request.authorization = LoginField.basic(login) }
            let front = LoginSink(before: sink, request, login, logins) { [unowned self] request, id, sink in
                begin(request, as: id, sink: sink)
            }
            begin(request, as: id, sink: front)
        }
    }

    func begin(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        var sink = sink
        if let trace {
            let lines = TraceText.request(request, try? pool.settings.settings(for: request))
            trace(.request(lines, to: request.address))
            sink = TraceSink(before: sink, trace)
        }
        guard !startHTTP1(request, as: id, sink: sink) else { return }
        join(pool.exchange(for: request, as: id, sink: sink), as: id)
    }

    func join(_ exchange: Exchange?, as id: TransferID) {
        guard let exchange else { preconditionFailure("curl_easy_init found no memory") }
        transfers[id] = exchange
        pendingAdd.append(exchange)
    }
}
