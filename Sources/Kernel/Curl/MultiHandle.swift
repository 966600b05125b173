import CCurl
import PawlBase
import PawlSystem

/// Owns a multi handle, and records whether libcurl is on the stack: then most of its functions must not be called.
///
/// libcurl starts with the first easy handle that is added: many programs never need it.
@safe final class MultiHandle {
    private var started: UnsafeMutableRawPointer?
    private let sockets = CurlSockets()
    /// The number of busy handles; one whose connection was handed over is not.
    private(set) var busy = 0
    /// Whether libcurl is on the stack.
    private(set) var isInside = false
    /// The handles to be removed when libcurl is off the stack.
    private var leaving: [EasyHandle] = []

    private let poller: any Poller
    private let source: PollSource
    private let clock: any Clock
    /// The sockets that libcurl has registered.
    private var watched: Set<Int32> = []
    /// The sockets that the poller cannot watch, and that are tried without an event.
    private var unwatched: Set<Int32> = []
    /// libcurl's next timeout.
    private var timeout: Instant?
    /// When libcurl is called next for transfers that wait for what it does not watch.
    private var nextPoll = Instant.past
    /// When ``advance()`` has something to do without an event of a socket.
    var deadline: Instant? { isPolling ? min(timeout ?? nextPoll, nextPoll) : timeout }
    private var isPolling: Bool { sockets.polled > 0 || !unwatched.isEmpty }

    private enum Limit {
        /// Streams of one HTTP/2 connection.
        static let streams = 256
    }

    init(on poller: any Poller, clock: any Clock) {
        self.poller = poller
        self.clock = clock
        source = poller.makeSource()
    }

    /// libcurl requires the easy handles to be removed before: the code that adds one keeps this alive.
    deinit {
        guard let raw = unsafe started else { return }
        _ = unsafe pawl_multi_set_events(raw, nil, nil, nil)
        _ = unsafe pawl_multi_cleanup(raw)
    }

    /// libcurl's object; `nil` while it cannot be made, without memory or descriptors.
    private func start() -> UnsafeMutableRawPointer? {
        if let started = unsafe started { return unsafe started }
        guard let raw = unsafe pawl_multi_init() else { return nil }
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        _ = unsafe pawl_multi_set_events(raw, watchSocket, reportTimeout, context)
        _ = unsafe pawl_multi_set_long(raw, CURLMOPT_MAXCONNECTS, HTTP1Limits.idleConnections)
        _ = unsafe pawl_multi_set_long(raw, CURLMOPT_MAX_CONCURRENT_STREAMS, Limit.streams)
        unsafe started = raw
        return unsafe raw
    }

    func add(_ easy: EasyHandle) throws(TransferFault) {
        guard let raw = unsafe start(), unsafe pawl_multi_add_handle(raw, easy.raw) == CURLM_OK else {
            throw TransferFault("libcurl cannot start", .last)
        }
        easy.isBusy = true
        easy.sockets = sockets
        busy += 1
        if easy.isPolled { sockets.polled += 1 }
    }

    /// Keeps the handle only for its connection.
    func rest(_ easy: EasyHandle) {
        guard easy.isBusy else { return }
        easy.endPolling()
        easy.isBusy = false
        busy -= 1
    }

    /// The next transfer that has ended, valid until the next call of libcurl.
    func takeMessage() -> UnsafeMutablePointer<CURLMsg>? {
        var left: Int32 = 0
        return unsafe started.flatMap { unsafe pawl_multi_info_read($0, &left) }
    }

    /// Removes a handle, once libcurl is off the stack.
    func remove(_ easy: EasyHandle) {
        rest(easy)
        guard let raw = unsafe started else { return }
        guard !isInside else { return leaving.append(easy) }
        call { _ = unsafe pawl_multi_remove_handle(raw, easy.raw) }
    }

    /// Lets libcurl handle the events of its sockets, and its timeouts.
    func advance() {
        poller.takeEvents(of: source) { event in
            // Reading reports what is wrong with a socket.
            let mask = (event.canRead ? CURL_CSELECT_IN : 0) | (event.canWrite ? CURL_CSELECT_OUT : 0)
            act(on: Int32(truncatingIfNeeded: event.key), mask)
        }
        if let due = timeout, due <= clock.now {
            timeout = nil
            act(on: pawl_no_socket, 0)
        }
        poll()
    }

    /// Lets libcurl test its sockets itself, and go on with transfers that have none.
    private func poll() {
        guard isPolling, nextPoll <= clock.now, let raw = unsafe started else { return }
        var running: Int32 = 0
        let code = call { unsafe pawl_multi_socket_all(raw, &running) }
        precondition(code == CURLM_OK, "curl_multi_socket_all: \(code)")
        nextPoll = clock.now + .milliseconds(10)
    }

    private func act(on socket: Int32, _ mask: Int32) {
        guard let raw = unsafe started else { return }
        var running: Int32 = 0
        let code = call { unsafe pawl_multi_socket_action(raw, socket, mask, &running) }
        precondition(code == CURLM_OK, "curl_multi_socket_action: \(code)")
    }

    fileprivate func watch(_ socket: Int32, _ what: Int32) {
        let interest: PollInterest
        switch what {
        case CURL_POLL_IN: interest = .reading
        case CURL_POLL_OUT: interest = .writing
        case CURL_POLL_INOUT: interest = .readingAndWriting
        default:
            unwatched.remove(socket)
            if watched.remove(socket) != nil { poller.unwatch(socket) }
            return
        }
        let key = UInt64(UInt32(bitPattern: socket))
        let isWatched =
            watched.contains(socket)
            ? poller.change(socket, to: interest, key: key, of: source)
            : poller.watch(socket, for: interest, key: key, of: source)
        if isWatched {
            watched.insert(socket)
            unwatched.remove(socket)
        } else {
            unwatched.insert(socket)
        }
    }

    fileprivate func noteTimeout(_ milliseconds: Int) {
        timeout = milliseconds < 0 ? nil : milliseconds == 0 ? .past : clock.now + .milliseconds(Int64(milliseconds))
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

private func watchSocket(
    _: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    let multi = unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
    multi.watch(socket, what)
    return 0
}

private func reportTimeout(
    _: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    guard let context = unsafe context else { return 0 }
    unsafe Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue().noteTimeout(milliseconds)
    return 0
}
