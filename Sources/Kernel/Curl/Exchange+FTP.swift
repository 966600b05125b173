import CCurl
import PawlBase

extension Exchange {
    /// Sends commands that describe the file before and after the transfer, and receives until the server
    /// ends the transfer.
    ///
    /// libcurl would take SIZE for the end of the data, and drop what follows: a longer file that was put there in the
    /// meantime would be cut to the old length.
    func watchFile(of request: TransferRequest) {
        let name = request.describableName
        if let name {
            let commands = ["*SIZE \(name)", "*MDTM \(name)"]
            // Without SIZE libcurl leaves REST out, too.
            let offset = request.range.offset
            easy.setCommands(before: [commands[0]] + (offset > 0 ? ["REST \(offset)"] : []), after: commands)
        } else {
            easy.setCommands(before: [], after: [])
        }
        easy.set(CURLOPT_IGNORE_CONTENT_LENGTH, name == nil ? 0 : 1)
    }
}

extension TransferRequest {
    /// The file's name in its folder on an FTP server; `nil` where libcurl has to know the length, ends the transfer before
    /// the file does, or refuses the request.
    fileprivate var describableName: String? {
        guard address.scheme == .ftp || address.scheme == .ftps, !address.path.contains(";type=") else { return nil }
        switch range {
        case .whole, .from: break
        case .closed, .suffix: return nil
        }
        let path = PercentCoding.decoded(address.path.utf8)
        let name = path.suffix(from: path.lastIndex(of: 0x2F).map { $0 + 1 } ?? 0)
        guard !name.isEmpty, name.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
        return String(validating: name, as: UTF8.self)
    }
}
