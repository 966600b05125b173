package import PawlBase

/// A request that is impossible, and whose sink is still to be informed.
struct Refusal {
    var id: TransferID
    var fault: TransferFault
    var sink: any TransferSink
}

extension CurlTransport {
    package func start(_ request: TransferRequest, as id: TransferID, sink: any TransferSink) {
        let request = judged(request)
        do throws(TransferFault) {
            if try checkCertificates(request, as: id, sink: sink) { return }
            if let object = request.object, case .located(let scheme) = object.scheme, let preparer = preparers[scheme]
            {
                return preparer.begin(request, for: object, as: id, sink: sink) { [unowned self] request, id, sink in
                    begin(request, as: id, sink: sink)
                }
            }
            guard !logins.isGiven(request), let login = try logins.login(for: request, at: clock.now) else {
                return begin(request, as: id, sink: sink)
            }
            try RequestText.check(login)
            begin(request, as: id, sink: sink, with: login)
        } catch { refuse(id, error, to: sink) }
    }

    private func begin(_ request: TransferRequest, as id: TransferID, sink: any TransferSink, with login: Credentials) {
        var request = request
        switch request.address.scheme {
        case .ftp, .ftps, .sftp:
            request.login = login
            begin(request, as: id, sink: sink)
        // It is requested by the URL where it is.
        case .located: preconditionFailure("a request to an address that has no host")
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
        if request.address.scheme == .https, request.connection == .shared {
            sink = UnknownEndSink(before: sink) { [unowned self] sink in
                var request = request
                request.connection = .separate
                begin(request, as: id, sink: sink)
            }
        }
        if let trace {
            let lines = TraceText.request(request, try? pool.settings.settings(for: request))
            trace(.request(lines, to: request.address))
            sink = TraceSink(before: sink, trace)
        }
        guard !startHTTP1(request, as: id, sink: sink) else { return }
        do throws(TransferFault) {
            let exchange = try pool.exchange(for: request, as: id, sink: sink)
            transfers[id] = exchange
            pendingAdd.append(exchange)
        } catch { refuse(id, error, to: sink) }
    }

    /// Informs the sink in the next round.
    func refuse(_ id: TransferID, _ fault: TransferFault, to sink: any TransferSink) {
        refusals.append(Refusal(id: id, fault: fault, sink: sink))
    }

    /// Informs the sinks of the requests that are impossible.
    ///
    /// Returns whether there were any.
    func deliverRefusals() -> Bool {
        guard !refusals.isEmpty else { return false }
        while !refusals.isEmpty {
            let refusal = refusals.removeFirst()
            refusal.sink.transferEnded(refusal.id, .failed(refusal.fault))
        }
        return true
    }

    /// Returns whether it was a request that is impossible.
    func cancelRefusal(_ id: TransferID) -> Bool {
        guard let index = refusals.firstIndex(where: { $0.id == id }) else { return false }
        refusals.remove(at: index)
        return true
    }
}
