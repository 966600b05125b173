import CCurl
import PawlCore
import PawlEngine

extension Exchange {
    /// How the transfer ended.
    ///
    /// Delivers a head that had to wait until now.
    func conclude(_ code: CURLcode) -> TransferEnd {
        if let verdict { return verdict }
        // libcurl may have stumbled over what came after the end.
        if hasLastChunk { return .complete }
        if code == CURLE_BAD_DOWNLOAD_RESUME, !isHTTP, phase != .delivered, let length = refusedLength {
            // The file is shorter than what was asked for: its length is what the server said, and it is judged.
            toldLength = length
            guard deliverHead(atEnd: true) else { return verdict ?? .stopped }
            return .complete
        }
        guard code == CURLE_OK else { return .failed(fault(code)) }
        if isHTTP, phase == .collecting {
            return .failed(TransferFault(.malformed, "the answer ended in the middle of its head"))
        }
        if phase != .delivered {
            guard deliverHead(atEnd: true) else { return verdict ?? .stopped }
        }
        guard chunks == nil else {
            return .failed(TransferFault(.truncated, "the connection was closed before the last chunk"))
        }
        return .complete
    }

    /// The length of a file that ends before the offset, of libcurl's "Offset (9) was beyond file size (5)".
    private var refusedLength: Int64? {
        let text = easy.errorText
        guard text.hasSuffix(")"), let opening = text.lastIndex(of: "(") else { return nil }
        return Int64(text[text.index(after: opening)...].dropLast())
    }

    private func fault(_ code: CURLcode) -> TransferFault {
        if let denial = easy.denial ?? easy.overrun { return denial }
        let said = easy.errorText
        if code == CURLE_PEER_FAILED_VERIFICATION, request?.address.scheme == .sftp {
            return TransferFault(.tls, "the host's SSH key is not the one that known_hosts has for it")
        }
        let words = CurlErrorMapping(
            code: code,
            text: said.isEmpty ? CurlLibrary.text(of: code) : said,
            systemError: Int32(truncatingIfNeeded: easy.number(CURLINFO_OS_ERRNO)),
            reply: easy.number(CURLINFO_RESPONSE_CODE),
            isHTTP: isHTTP,
            hasHead: phase == .delivered
        )
        return TransferFault(words.kind, Secrets.removed(from: words.text, of: request))
    }
}
