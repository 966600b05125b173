import CCurl

/// Owns a multi handle, and knows whether libcurl is on the stack: then most of its functions must not be called.
@safe
final class MultiHandle {
    let raw: UnsafeMutableRawPointer
    private let sockets = CurlSockets()
    /// How many of its handles want work; a connection that was handed over does not.
    private(set) var busy = 0
    /// Whether libcurl is on the stack.
    private(set) var isInside = false
    /// To leave when libcurl is off the stack.
    private var leaving: [EasyHandle] = []

    init?() {
        guard let raw = unsafe curl_multi_init() else { return nil }
        unsafe self.raw = raw
    }

    /// The easy handles have gone before, as libcurl asks for: who adds one keeps this.
    deinit { _ = unsafe curl_multi_cleanup(raw) }

    func add(_ easy: EasyHandle) {
        let code = unsafe curl_multi_add_handle(raw, easy.raw)
        precondition(code == CURLM_OK, "curl_multi_add_handle: \(code)")
        easy.isBusy = true
        easy.sockets = sockets
        busy += 1
    }

    /// The handle stays for the sake of its connection.
    func rest(_ easy: EasyHandle) {
        guard easy.isBusy else { return }
        easy.isBusy = false
        busy -= 1
    }

    /// Takes a handle out, when libcurl is off the stack.
    func remove(_ easy: EasyHandle) {
        rest(easy)
        guard !isInside else { return leaving.append(easy) }
        call { _ = unsafe curl_multi_remove_handle(raw, easy.raw) }
    }

    /// Calls what may call back.
    func call<Answer>(_ body: () -> Answer) -> Answer {
        precondition(!isInside, "libcurl is on the stack")
        isInside = true
        sockets.round += 1
        let answer = body()
        isInside = false
        while let easy = leaving.popLast() { remove(easy) }
        return answer
    }
}
