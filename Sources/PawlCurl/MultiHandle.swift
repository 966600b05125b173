import CCurl

/// Owns a multi handle, and records whether libcurl is on the stack: then most of its functions must not be called.
@safe
final class MultiHandle {
    let raw: UnsafeMutableRawPointer
    private let sockets = CurlSockets()
    /// The number of busy handles; one whose connection was handed over is not.
    private(set) var busy = 0
    /// Whether libcurl is on the stack.
    private(set) var isInside = false
    /// The handles to be removed when libcurl is off the stack.
    private var leaving: [EasyHandle] = []

    init?() {
        guard let raw = unsafe curl_multi_init() else { return nil }
        unsafe self.raw = raw
    }

    /// libcurl requires the easy handles to be removed before: the code that adds one keeps this alive.
    deinit { _ = unsafe curl_multi_cleanup(raw) }

    func add(_ easy: EasyHandle) {
        let code = unsafe curl_multi_add_handle(raw, easy.raw)
        precondition(code == CURLM_OK, "curl_multi_add_handle: \(code)")
        easy.isBusy = true
        easy.sockets = sockets
        busy += 1
    }

    /// Keeps the handle only for its connection.
    func rest(_ easy: EasyHandle) {
        guard easy.isBusy else { return }
        easy.isBusy = false
        busy -= 1
    }

    /// Removes a handle, once libcurl is off the stack.
    func remove(_ easy: EasyHandle) {
        rest(easy)
        guard !isInside else { return leaving.append(easy) }
        call { _ = unsafe curl_multi_remove_handle(raw, easy.raw) }
    }

    /// Runs `body`, a function of libcurl that may call back.
    func call<Value>(_ body: () -> Value) -> Value {
        precondition(!isInside, "libcurl is on the stack")
        isInside = true
        sockets.round += 1
        let value = body()
        isInside = false
        while let easy = leaving.popLast() { remove(easy) }
        return value
    }
}
