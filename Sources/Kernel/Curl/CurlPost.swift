import CCurl
package import PawlBase
import PawlHTTP

/// One small POST, on a thread that may block; only the status of the response is kept.
package enum CurlPost {
    /// Returns the response's status, or why there was none.
    ///
    /// Redirects are not followed: the body is sent to `address` only.
    package static func send(
        _ body: [UInt8], contentType: String, to address: String, seconds: Int, deniesPrivateAddresses: Bool
    ) -> Result<Int, Failure> {
        let handle: EasyHandle
        do throws(TransferFault) { handle = try EasyHandle() } catch { return .failure(failure(address, error.text)) }
        handle.reset()
        handle.set(CURLOPT_URL, address)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_POST, 1)
        handle.set(CURLOPT_POSTFIELDSIZE, body.count)
        handle.set(CURLOPT_COPYPOSTFIELDS, String(decoding: body, as: UTF8.self))
        handle.set(CURLOPT_TIMEOUT, seconds)
        handle.set(CURLOPT_HTTPHEADER, CurlList(["Content-Type: \(contentType)", "Expect:"]))
        unsafe handle.set(CURLOPT_WRITEFUNCTION, receiver: { _, size, count, _ in size * count })
        Authorities(named: nil).apply(to: handle)
        // Each address is checked when it is connected to; the addresses that a proxy connects to are not.
        if deniesPrivateAddresses, !EnvironmentProxy.isNamed { handle.denyPrivateAddresses() }
        if let hosts = EnvironmentProxy.exceptions, let port = try? WebAddress.parse(address).address.port {
            handle.set(CURLOPT_NOPROXY, NoProxyList.hosts(of: hosts, port: port))
        }
        if let refusal = handle.refusal { return .failure(failure(address, CurlLibrary.text(of: refusal))) }
        let code = unsafe pawl_easy_perform(handle.raw)
        guard code == CURLE_OK else {
            if let denied = handle.deniedAddress {
                return .failure(failure(address, "its name resolves to \(denied), an address of a private network"))
            }
            return .failure(failure(address, cause(of: code, handle.errorText)))
        }
        return .success(handle.number(CURLINFO_RESPONSE_CODE))
    }

    private static func cause(of code: CURLcode, _ text: String) -> String {
        // The text shows the URL of the proxy as a whole, with its login.
        if text.hasPrefix("Unsupported proxy") { return TransferFault.unusableProxy.text }
        return text.isEmpty ? CurlLibrary.text(of: code) : Secrets.removed(from: text, of: nil)
    }

    private static func failure(_ address: String, _ why: String) -> Failure {
        Failure(.network, "cannot post to", at: Redaction.address(address), because: why)
    }
}
