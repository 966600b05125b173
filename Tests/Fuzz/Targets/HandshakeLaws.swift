import Glibc
import PawlBase
import PawlHTTP

/// What a server sends within a TLS handshake.
enum HandshakeLaws {
    private struct Outcome: Equatable {
        var fault: TransferFault?
        var chains: [[[UInt8]]] = []
    }

    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let piece = Int(input.byte()) + 1
        let bytes = input.rest()
        let whole = try outcome(bytes, piece: max(1, bytes.count))
        try hold(whole.fault != nil, "a handshake of which the server has no keys is done")
        try hold(whole.chains.allSatisfy { $0.first?.isEmpty == false }, "a question without a certificate")
        try hold(try outcome(bytes, piece: piece) == whole, "pieces of \(piece) bytes have another outcome")
    }

    /// A judge accepts every certificate.
    private static func outcome(_ bytes: [UInt8], piece: Int) throws(BrokenLaw) -> Outcome {
        var ends: [Int32] = [0, 0]
        guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
            throw BrokenLaw(description: "no socket")
        }
        defer { for end in ends { close(end) } }
        var settings = TLSSettings()
        settings.verifies = false
        var outcome = Outcome()
        do throws(TransferFault) {
            let target = TLSTarget(host: "localhost", port: 1, protocols: ["h2", "http/1.1"], isJudged: true)
            let session = try TLSSession(TLSContext.client(settings), over: .socket(ends[0]), to: target)
            var rest = bytes[...]
            while true {
                let front = rest.prefix(piece)
                rest = rest.dropFirst(front.count)
                if front.isEmpty {
                    shutdown(ends[1], Int32(SHUT_WR))
                } else {
                    _ = unsafe front.withUnsafeBytes { unsafe send(ends[1], $0.baseAddress, $0.count, 0) }
                }
                try proceed(session, &outcome)
                if front.isEmpty { return outcome }
            }
        } catch { outcome.fault = error }
        return outcome
    }

    private static func proceed(_ session: TLSSession, _ outcome: inout Outcome) throws(TransferFault) {
        while true {
            switch session.handshake() {
            case .done, .wantsRead, .wantsWrite: return
            case .failed(let fault): throw fault
            case .held(let question):
                if case .server(let chain, _) = question.kind { outcome.chains.append(chain) }
                session.decide(.accept)
            }
        }
    }
}
