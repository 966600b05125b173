import PawlBase
import Synchronization

// FTP servers: no status, no validators but a date, offsets instead of ranges. The connections below are the same.
extension SimulatedNetwork.State {
    /// What an FTP server does instead of sending this response.
    mutating func asFile(_ fare: SimulatedNetwork.Fare, of request: TransferRequest) -> SimulatedNetwork.Fare {
        let address = request.address
        guard address.scheme == .ftp, case .responded(var response) = fare,
            let file = servers[address.host]?.files[address.path], let traits = file.fileServer
        else { return fare }
        switch response.head.status {
        case 200, 206: break
        // The offset is the end of the file, or behind it.
        case 416: response = whole(file, from: file.payload.length)
        case 404: return .failed(TransferFault(.notFound, foreign: "550 no such file"))
        case 401, 403, 410: return .failed(TransferFault(.denied, foreign: "530 not logged in"))
        default: return .failed(TransferFault(.serverRefused, foreign: "421 too many users"))
        }
        guard request.range.offset == 0 || !traits.refusesOffsets else {
            tally.note("offsets refused by FTP servers")
            return .failed(TransferFault(.offsetRefused, foreign: "502 REST is not implemented"))
        }
        tally.note(file.statesLength ? "files sent by FTP" : "files sent by FTP without a length")
        if sabotage == .endsFilesEarly { response = whole(file, from: response.start, count: response.length / 2) }
        return .responded(response)
    }

    private func whole(_ file: SimulatedFile, from start: Int64, count: Int64 = 0) -> SimulatedResponse {
        var head = ResponseHead(status: 200)
        if file.statesLength { head.contentLength = count }
        return SimulatedResponse(head: head, payload: file.payload, start: start, length: count)
    }
}

extension SimulatedNetwork {
    /// What an FTP server tells instead of a header section: the whole file's length and time, if it has the commands.
    func fileHead(of response: SimulatedResponse, to request: TransferRequest) -> ResponseHead? {
        guard request.address.scheme == .ftp else { return nil }
        return state.withLock { state in
            let file = state.servers[request.address.host]?.files[request.address.path]
            return ResponseHead(
                fileLength: file?.statesLength == true ? response.payload.length : nil, modified: file?.lastModified)
        }
    }

    /// The file has another length after the transfer than before.
    func changedFile(_ response: SimulatedResponse?, to request: TransferRequest) -> TransferFault? {
        guard let response, request.address.scheme == .ftp else { return nil }
        return state.withLock { state in
            guard let file = state.servers[request.address.host]?.files[request.address.path], file.statesLength,
                case let now = file.payload.length, now != response.payload.length
            else { return nil }
            state.tally.note("files that changed during an FTP transfer")
            return TransferFault(.contentChanged, foreign: "it has \(now) bytes now")
        }
    }
}
