import CCurl
package import PawlCore

/// One POST of a few bytes, for a thread that can wait; what the answer says beside its status is dropped.
package enum CurlPost {
    /// Gives the answer's status, or why there was none.
    ///
    /// Redirects are not followed: the body goes to the address that was given and nowhere else.
    package static func send(
        _ body: [UInt8],
        contentType: String,
        to address: String,
        seconds: Int,
        deniesPrivateAddresses: Bool
    ) -> Result<Int, Failure> {
        _ = CurlLibrary.start
        guard let handle = EasyHandle() else { return .failure(failure(address, "libcurl has no memory")) }
        handle.reset()
        handle.set(CURLOPT_URL, address)
        handle.set(CURLOPT_PROTOCOLS_STR, "http,https")
        handle.set(CURLOPT_NOSIGNAL, 1)
        handle.set(CURLOPT_POST, 1)
        handle.set(CURLOPT_POSTFIELDSIZE, body.count)
        handle.set(CURLOPT_COPYPOSTFIELDS, String(decoding: body, as: UTF8.self))
        handle.set(CURLOPT_TIMEOUT, seconds)
        handle.set(CURLOPT_HTTPHEADER, HeaderLines(["Content-Type: \(contentType)", "Expect:"]))
        unsafe handle.set(CURLOPT_WRITEFUNCTION, receiver: { _, size, count, _ in size * count })
        Authorities(named: nil).apply(to: handle)
        // Each address is judged when it is connected to; what a proxy asks is its own matter.
        if deniesPrivateAddresses, !EnvironmentProxy.isNamed { handle.denyPrivateAddresses() }
        if let refusal = handle.refusal { return .failure(failure(address, CurlLibrary.text(of: refusal))) }
        let code = unsafe curl_easy_perform(handle.raw)
        guard code == CURLE_OK else {
            if let denied = handle.deniedAddress {
                return .failure(
                    failure(address, "its name leads to \(denied), an address of a private network")
                )
            }
            let words = handle.errorText
            return .failure(failure(address, words.isEmpty ? CurlLibrary.text(of: code) : words))
        }
        return .success(handle.number(CURLINFO_RESPONSE_CODE))
    }

    private static func failure(_ address: String, _ why: String) -> Failure {
        Failure(.network, "cannot post to", at: Redaction.address(address), because: why)
    }
}
