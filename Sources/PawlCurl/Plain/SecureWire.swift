#if os(Linux)
import CCurl
import CTLS
import PawlCore

/// A TLS connection that libcurl has made: it does the records, and the socket is only watched.
///
/// Bytes may wait decrypted, or read ahead, while the socket has none. So what is to be read is read until
/// libcurl has asked the socket in vain; a change of the socket tells of all that comes after that.
@safe
final class SecureWire {
    let socket: Int32
    private let easy: EasyHandle
    /// `nil` when closed.
    private var multi: MultiHandle?
    /// How reading ended; told again whenever it is asked for.
    private var ending: PlainConnection.Reading?

    /// The connection of `easy`, which is in `multi`.
    init?(_ easy: EasyHandle, in multi: MultiHandle) {
        guard let socket = easy.socket else { return nil }
        self.socket = socket
        self.easy = easy
        self.multi = multi
        easy.clearErrorText()
    }

    deinit { close() }

    /// libcurl says goodbye to the peer and closes the socket.
    func close() {
        multi?.remove(easy)
        multi = nil
    }

    /// Reads what is there: one record, or as many as the buffer holds.
    func receive(
        into buffer: UnsafeMutableRawBufferPointer,
        isOneEnough: Bool
    ) -> PlainConnection.Reading {
        var done = 0
        while done < buffer.count, ending == nil {
            var count = 0
            let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[done...])
            let code = unsafe curl_easy_recv(easy.raw, rest.baseAddress, rest.count, &count)
            switch code {
            case CURLE_AGAIN: return done > 0 ? .bytes(done, isLast: true) : .nothing
            case CURLE_OK where count > 0: done += count
            case CURLE_OK: ending = goodbye
            default: ending = .failed(fault(code))
            }
            if isOneEnough { break }
        }
        return done > 0 ? .bytes(done, isLast: false) : ending ?? .nothing
    }

    /// libcurl 7.88 takes every end for one that the peer meant.
    private var goodbye: PlainConnection.Reading {
        if unsafe pawl_tls_had_goodbye(pawl_easy_get_tls(easy.raw)) != 0 { return .closed }
        let text = "the connection was closed without the goodbye of TLS"
        return .failed(TransferFault(.connectionLost, text))
    }

    /// Sends the front of `bytes` and tells how many that was; `nil` when nothing can be sent any more.
    func send(_ bytes: UnsafeRawBufferPointer) -> Int? {
        var count = 0
        switch unsafe curl_easy_send(easy.raw, bytes.baseAddress, bytes.count, &count) {
        case CURLE_OK: return count
        case CURLE_AGAIN: return 0
        default: return nil
        }
    }

    private func fault(_ code: CURLcode) -> TransferFault {
        let said = easy.errorText
        let words = FaultWords(
            code: code,
            text: said.isEmpty ? CurlLibrary.text(of: code) : said,
            systemError: 0,
            reply: 0,
            isHTTP: true,
            hasHead: true
        )
        return TransferFault(words.kind, words.text)
    }
}

#endif
