import CWebSockets
import Glibc
import PawlCore

/// The server's thread: libwebsockets' context and the connections on it.
@safe
final class WebLoop {
    let limits: WebLimits
    let handler: any WebHandler
    let mailbox: WebMailbox
    /// By the library's pointer.
    var connections: [UInt: WebConnection] = [:]
    var byID: [ConnectionID: WebConnection] = [:]
    /// Room for one write: libwebsockets wants some bytes before the data for itself.
    let scratch: UnsafeMutableBufferPointer<UInt8>
    private var context: OpaquePointer?
    /// See `pawl_web_make_client`.
    private var client: OpaquePointer?
    private let protocols: UnsafeMutablePointer<lws_protocols>
    /// Names that the library only points to.
    private var keptTexts: [UnsafeMutablePointer<CChar>] = unsafe []
    /// The socket file, once it has its name.
    private var socket: String?
    private var next: UInt64 = 1
    private var onStopped: [@Sendable () -> Void] = []
    private(set) var isStopping = false
    /// See ``WebLimits/memory``.
    private var held = 0

    static let chunk = 64 * 1024

    init(limits: WebLimits, handler: any WebHandler, mailbox: WebMailbox) {
        self.limits = limits
        self.handler = handler
        self.mailbox = mailbox
        unsafe scratch = .allocate(capacity: pawl_web_room + WebLoop.chunk)
        unsafe protocols = .allocate(capacity: 2)
        unsafe protocols.initialize(repeating: lws_protocols(), count: 2)
        unsafe keptTexts.append(strdup("pawl"))
        unsafe protocols[0].name = UnsafePointer(keptTexts[0])
        unsafe protocols[0].callback = webCallback
        unsafe protocols[0].rx_buffer_size = WebLoop.chunk
        lws_set_log_level(0, nil)
        let owner = unsafe Unmanaged.passUnretained(self).toOpaque()
        var settings = unsafe self.settings(owner: owner)
        unsafe context = pawl_web_context(&settings)
        if let context = unsafe context { unsafe mailbox.attach(context) }
    }

    private func settings(owner: UnsafeMutableRawPointer?) -> pawl_web_settings {
        unsafe pawl_web_settings(
            owner: owner,
            protocols: protocols,
            connections: UInt32(limits.connections),
            head_bytes: UInt16(limits.head),
            buffer_bytes: UInt32(WebLoop.chunk),
            request_seconds: UInt32(limits.requestTime),
            idle_seconds: Int32(limits.idleTime),
            client: client
        )
    }

    func listen(at addresses: [WebAddressToListen]) throws(Failure) -> [Int] {
        var ports: [Int] = []
        for address in addresses { ports.append(try listen(at: address)) }
        return ports
    }

    private func listen(at address: WebAddressToListen) throws(Failure) -> Int {
        guard let context = unsafe context else {
            throw Failure(.unknown, "cannot start", at: "the web server", because: "libwebsockets refused")
        }
        var settings = unsafe self.settings(owner: nil)
        switch address {
        case .local(let path):
            try unsafe listen(at: path, context, &settings)
            return 0
        case .port(let host, let port, let certificate, let key):
            try AddressProbe.check(host, port: port)
            if certificate != nil, unsafe client == nil { unsafe client = pawl_web_make_client() }
            unsafe settings.client = client
            let name = unsafe keep(certificate == nil ? "port" : "secure port")
            let kept = unsafe keep(host)
            let vhost = unsafe pawl_web_listen(
                context,
                &settings,
                name,
                kept,
                Int32(port),
                certificate.map { unsafe keep($0) },
                key.map { unsafe keep($0) }
            )
            guard let vhost = unsafe vhost else {
                throw Failure(
                    .badOption,
                    "cannot listen at",
                    at: "\(host):\(port)",
                    because: certificate == nil
                        ? "the port was taken this moment" : "the certificate or its key cannot be used",
                    remedy: certificate == nil ? "try again" : "give a certificate and its key as PEM files"
                )
            }
            return Int(unsafe lws_get_vhost_listen_port(vhost))
        }
    }

    /// The socket gets its name when only its owner can open it; nobody meets one that is not listened at.
    private func listen(
        at path: String,
        _ context: OpaquePointer,
        _ settings: inout pawl_web_settings
    ) throws(Failure) {
        let folder = path + ".new"
        let made = folder + "/s"
        defer {
            _ = unsafe unlink(made)
            _ = unsafe rmdir(folder)
        }
        let name = unsafe keep("local")
        let kept = unsafe keep(made)
        // What a killed process left.
        _ = unsafe unlink(made)
        _ = unsafe rmdir(folder)
        guard made.utf8.count < 108, unsafe mkdir(folder, 0o700) == 0,
            unsafe pawl_web_listen_local(context, &settings, name, kept) != nil,
            unsafe chmod(made, 0o600) == 0, unsafe rename(made, path) == 0
        else {
            let isLong = made.utf8.count >= 108
            throw Failure(
                .badOption,
                "cannot listen at",
                at: path,
                because: isLong ? "the path is too long" : unsafe String(cString: strerror(errno)),
                remedy: "choose another place with --socket"
            )
        }
        socket = path
    }

    private func keep(_ text: String) -> UnsafePointer<CChar> {
        guard let copy = unsafe strdup(text) else { preconditionFailure("no memory for a name") }
        unsafe keptTexts.append(copy)
        return unsafe UnsafePointer(copy)
    }

    /// Serves until it is told to stop.
    func run() {
        guard let context = unsafe context else { return }
        while !isStopping { _ = unsafe lws_service(context, 0) }
        // What was said last, "OK" to a wish to stop among it, is worth a moment.
        for _ in 0..<500 where connections.values.contains(where: \.isSending) {
            _ = unsafe lws_service(context, -1)
            usleep(2000)
        }
        destroy()
        for completion in onStopped { completion() }
    }

    func destroy() {
        mailbox.detach()
        if let socket { _ = unsafe unlink(socket) }
        if let context = unsafe context { unsafe lws_context_destroy(context) }
        if let client = unsafe client { unsafe pawl_web_free_client(client) }
        for index in unsafe keptTexts.indices { unsafe free(keptTexts[index]) }
        unsafe protocols.deallocate()
        unsafe scratch.deallocate()
    }

    // MARK: connections

    /// The connection of that number; made when the library shows it for the first time.
    func connection(_ wsi: OpaquePointer) -> WebConnection {
        if let known = connections[UInt(bitPattern: wsi)] { return known }
        let connection = unsafe WebConnection(id: ConnectionID(rawValue: next), wsi: wsi, door: door(of: wsi))
        next += 1
        connections[UInt(bitPattern: wsi)] = connection
        byID[connection.id] = connection
        return connection
    }

    private func door(of wsi: OpaquePointer) -> Door {
        guard let vhost = unsafe lws_get_vhost(wsi), let name = unsafe lws_get_vhost_name(vhost) else {
            return .port(isSecure: false)
        }
        switch unsafe String(cString: name) {
        case "local": return .local
        case let other: return .port(isSecure: other == "secure port")
        }
    }

    /// Whether there is room for one more; ports cannot take it from the socket file.
    func admits(_ wsi: OpaquePointer) -> Bool {
        let connection = unsafe connection(wsi)
        return byID.count + (connection.door == .local ? 0 : limits.reserve) <= limits.connections
    }

    func forget(_ wsi: OpaquePointer) {
        guard let connection = connections.removeValue(forKey: UInt(bitPattern: wsi)) else { return }
        byID[connection.id] = nil
        held -= connection.held
        if connection.isAnnounced { handler.closed(connection.id) }
    }

    // MARK: letters

    func readMail() {
        for message in mailbox.take() {
            switch message {
            case .reply(let id, let response):
                if let connection = byID[id] { reply(response, on: connection) }
            case .push(let ids, let messages):
                for id in ids {
                    guard let connection = byID[id] else { continue }
                    for message in messages { push(message, on: connection) }
                }
            case .answer(let id, let bytes):
                if let connection = byID[id] { answer(bytes, on: connection) }
            case .welcome(let id):
                if let connection = byID[id] { unsafe lws_set_timeout(connection.wsi, NO_PENDING_TIMEOUT, 0) }
            case .end(let id):
                guard let connection = byID[id] else { break }
                connection.isEnding = true
                _ = unsafe lws_callback_on_writable(connection.wsi)
            case .stop(let completion):
                isStopping = true
                for connection in byID.values where connection.isSocket {
                    connection.isEnding = true
                    _ = unsafe lws_callback_on_writable(connection.wsi)
                }
                onStopped.append(completion)
            }
        }
    }

    /// Whether so much more may be held for it.
    func hold(_ count: Int, for connection: WebConnection) -> Bool {
        held += count
        connection.held += count
        return held <= limits.memory
    }

    func push(_ bytes: [UInt8], on connection: WebConnection) {
        guard connection.isAnnounced, !connection.isEnding else { return }
        connection.enqueue(bytes)
        if !hold(bytes.count, for: connection) || connection.backlogBytes > limits.backlog {
            // It does not read; what it missed cannot be made good, so it has to come again.
            connection.isEnding = true
            unsafe lws_set_timeout(connection.wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC)
        } else {
            _ = unsafe lws_callback_on_writable(connection.wsi)
        }
    }
}
