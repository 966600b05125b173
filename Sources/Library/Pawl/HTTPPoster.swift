package import PawlBase
import PawlHTTP

/// Posts a small body to a URL, independently of all downloads.
package enum HTTPPoster {
    /// Blocks the calling thread; returns the response's status, or the reason why there was none.
    ///
    /// Redirects are not followed: the body is sent to `address` only.
    package static func send(
        _ json: [UInt8], to address: String, seconds: Int = 10, deniesPrivateAddresses: Bool = false
    ) -> Result<Int, Failure> {
        var values = TransferSettings.Values()
        // The addresses that a proxy connects to are not known, and its own may be private.
        values.deniesPrivateAddresses = deniesPrivateAddresses && !EnvironmentProxy.isNamed
        let time = Interval.seconds(Double(seconds))
        values.connectTimeout = time
        let client = HTTPClient(TransferSettings(values), patience: Double(seconds))
        let target: (address: WebAddress, credentials: Credentials?)
        do throws(Failure) { target = try WebAddress.parse(address) } catch { return .failure(error) }
        let login = target.credentials.map { ["Authorization: \(LoginField.basic($0))"] } ?? []
        do throws(TransferFault) {
            let lines = ["Content-Type: application/json"] + login
            let request = HTTPClient.Request("POST", target.address, lines: lines, body: json, limit: 0, time: time)
            return .success(try client.perform(request).head.status)
        } catch {
            return .failure(
                Failure(.network, "cannot post to", at: Redaction.address(address), because: cause(of: error)))
        }
    }

    private static func cause(of fault: TransferFault) -> LocalizableMessage {
        guard fault.kind == .privateAddress, case .text(let denied) = fault.cause.values.first else {
            return fault.cause
        }
        return LocalizableMessage(
            untranslated: "its name resolves to \(denied), an address of a private network")
    }
}
