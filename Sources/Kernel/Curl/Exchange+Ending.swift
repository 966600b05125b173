import CCurl
import PawlBase

extension Exchange {
    /// Returns how the transfer ended.
    func conclude(_ code: CURLcode) -> TransferEnd {
        if let verdict { return verdict }
        if let faultOfFile { return .failed(code == CURLE_OK ? .pathOfFolder : faultOfFile) }
        if !isHeadDelivered, let length = lengthBeforeOffset(code) {
            // The server reported the length, and it is judged.
            refusedLength = length
            return deliverHead(atEnd: true) ? .complete : verdict ?? .stopped
        }
        if let contradiction = file.contradiction { return .failed(TransferFault(.contentChanged, contradiction)) }
        guard code == CURLE_OK else {
            let fault = easy.fault(code, of: request, hasHead: isHeadDelivered)
            // 550 is for a missing file, and some servers send it for an offset behind the end, too.
            let scheme = request?.address.scheme
            guard fault.kind == .notFound, scheme == .ftp || scheme == .ftps, file.mayEndEarlier else {
                return .failed(fault)
            }
            return .failed(TransferFault(.offsetRefused, fault.cause))
        }
        return isHeadDelivered || deliverHead(atEnd: true) ? .complete : verdict ?? .stopped
    }

    /// The length of a file that ends before the requested offset, where that made the transfer fail.
    private func lengthBeforeOffset(_ code: CURLcode) -> Int64? {
        switch code {
        case CURLE_BAD_DOWNLOAD_RESUME:
            // "Offset (9) was beyond file size (5)"
            let text = easy.errorText
            guard text.hasSuffix(")"), let opening = text.lastIndex(of: "(") else { return nil }
            return Int64(text[text.index(after: opening)...].dropLast())
        case CURLE_FTP_COULDNT_USE_REST, CURLE_QUOTE_ERROR, CURLE_FTP_COULDNT_RETR_FILE, CURLE_REMOTE_FILE_NOT_FOUND:
            return file.isBeyondEnd ? file.length : nil
        default: return nil
        }
    }
}
