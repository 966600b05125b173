import CCurl
import PawlBase

extension Exchange {
    /// Returns how the transfer ended.
    ///
    /// Delivers a header section that was held back.
    func conclude(_ code: CURLcode) -> TransferEnd {
        if let verdict { return verdict }
        // libcurl may have failed on bytes after the end.
        if hasLastChunk { return .complete }
        if !isHTTP, phase != .delivered, let length = lengthBeforeOffset(code) {
            // The server reported the length, and it is judged.
            refusedLength = length
            guard deliverHead(atEnd: true) else { return verdict ?? .stopped }
            return .complete
        }
        if let contradiction = file.contradiction { return .failed(TransferFault(.contentChanged, contradiction)) }
        guard code == CURLE_OK else {
            if isHTTP, phase == .collecting, let refusal = easy.tunnelRefusal {
                lines = refusal
                return deliverHead(atEnd: true) ? .complete : verdict ?? .stopped
            }
            let fault = easy.fault(code, of: request, isHTTP: isHTTP, hasHead: phase == .delivered)
            // 550 is for a missing file, and some servers send it for an offset behind the end, too.
            let scheme = request?.address.scheme
            guard fault.kind == .notFound, scheme == .ftp || scheme == .ftps, file.mayEndEarlier else {
                return .failed(fault)
            }
            return .failed(TransferFault(.offsetRefused, fault.cause))
        }
        if isHTTP, phase == .collecting { return .failed(.closedInHead(.malformed)) }
        if phase != .delivered { guard deliverHead(atEnd: true) else { return verdict ?? .stopped } }
        guard chunks == nil else { return .failed(.noLastChunk) }
        return .complete
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
