import CWebSockets
import Glibc
import PawlBase
import PawlSystem

// Listeners (ports, with or without TLS, and the Unix socket), and how many connections they accept.
extension WebLoop {
    /// The library accepts connections, with their TLS handshakes, as long as there are new ones: all other clients would
    /// wait as long.
    private static let mostAccepted = 8

    /// How many may be closing at the same time; the library has capacity for so many more.
    private static let mostLeaving = 64

    func listen(at addresses: [ListenAddress]) throws(Failure) -> [Int] {
        var ports: [Int] = []
        for address in addresses { ports.append(try listen(at: address)) }
        return ports
    }

    private func listen(at address: ListenAddress) throws(Failure) -> Int {
        guard let context = unsafe context else {
            throw Failure(.unknown, "cannot start", at: "the web server", because: "libwebsockets failed")
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
                context, &settings, name, kept, Int32(port), certificate.map { unsafe keep($0) },
                key.map { unsafe keep($0) })
            guard let vhost = unsafe vhost else {
                throw Failure(
                    .badOption, "cannot listen at", at: "\(host):\(port)",
                    because: certificate == nil
                        ? "another process took the port" : "the certificate or its key cannot be used",
                    remedy: certificate == nil ? "try again" : "use PEM files for the certificate and its key")
            }
            return Int(unsafe lws_get_vhost_listen_port(vhost))
        }
    }

    /// The socket is renamed to its path after its permissions are set and it is listening.
    private func listen(at path: String, _ context: OpaquePointer, _ settings: inout pawl_web_settings) throws(Failure)
    {
        let folder = path + ".new"
        // The library takes listeners at the same address for one.
        socketCount += 1
        let made = folder + "/s\(socketCount)"
        defer {
            _ = unsafe unlink(made)
            _ = unsafe rmdir(folder)
        }
        let name = unsafe keep("local")
        let kept = unsafe keep(made)
        // Left by a killed process.
        for name in FolderNames.read(folder) { _ = unsafe unlink("\(folder)/\(name)") }
        _ = unsafe rmdir(folder)
        var listener: OpaquePointer?
        guard made.utf8.count < 108, unsafe mkdir(folder, 0o700) == 0,
            unsafe makeListener(&listener, context, &settings, name, kept), unsafe chmod(made, 0o600) == 0,
            unsafe rename(made, path) == 0
        else {
            let isLong = made.utf8.count >= 108
            throw Failure(
                .badOption, "cannot listen at", at: path,
                because: isLong ? "the path is too long" : SystemError.last.text,
                remedy: "choose another path with --socket")
        }
        if let old = sockets[path] { unsafe retiredListeners.append(old.listener) }
        guard let listener = unsafe listener else { return }
        sockets[path] = unsafe LocalListener(listener, path)
    }

    private func makeListener(
        _ listener: inout OpaquePointer?, _ context: OpaquePointer, _ settings: inout pawl_web_settings,
        _ name: UnsafePointer<CChar>, _ path: UnsafePointer<CChar>
    ) -> Bool {
        unsafe listener = pawl_web_listen_local(context, &settings, name, path)
        return unsafe listener != nil
    }

    /// Makes the sockets that were requested, and ends listeners that nobody can reach any more.
    func makeSockets() {
        let hasRetired = unsafe !retiredListeners.isEmpty
        guard hasRetired || !requestedSockets.isEmpty else { return }
        let requested = requestedSockets
        requestedSockets = []
        for (path, completion) in requested {
            do throws(Failure) {
                _ = try listen(at: .local(path: path))
                completion(true)
            } catch { completion(false) }
        }
        let used = Set(connections.values.map { UInt(bitPattern: unsafe lws_get_vhost($0.wsi)) })
        unsafe retiredListeners.removeAll { listener in
            guard !used.contains(UInt(bitPattern: listener)) else { return false }
            unsafe lws_vhost_destroy(listener)
            return true
        }
    }

    private func keep(_ text: String) -> UnsafePointer<CChar> {
        guard let copy = unsafe strdup(text) else { preconditionFailure("no memory for a name") }
        unsafe keptTexts.append(copy)
        return unsafe UnsafePointer(copy)
    }

    // MARK: accepting

    func listenerKind(of wsi: OpaquePointer) -> ListenerKind {
        guard let vhost = unsafe lws_get_vhost(wsi), let name = unsafe lws_get_vhost_name(vhost) else {
            return .port(isSecure: false)
        }
        switch unsafe String(cString: name) {
        case "local": return .local
        case let other: return .port(isSecure: other == "secure port")
        }
    }

    /// Whether a listener may accept one more; ports cannot use the connections reserved for the Unix socket.
    ///
    /// If all are in use, the oldest unauthenticated connection is closed: a client that holds them all cannot lock
    /// others out.
    func hasRoom(at listener: OpaquePointer) -> Bool {
        unsafe limitAccepting(at: listener)
        let isLocal = unsafe listenerKind(of: listener) == .local
        let limit = limits.connections - (isLocal ? 0 : limits.reserve)
        if byID.count - leaving < limit { return true }
        guard leaving < WebLoop.mostLeaving, let oldest = takeOldestUnauthenticated() else { return false }
        oldest.isLeaving = true
        leaving += 1
        kill(oldest)
        return true
    }

    private func limitAccepting(at listener: OpaquePointer) {
        accepted += 1
        guard accepted >= WebLoop.mostAccepted, unsafe !pausedListeners.contains(listener) else { return }
        unsafe pausedListeners.append(listener)
        _ = unsafe lws_rx_flow_control(listener, 0)
        // The next wait must not wait for other clients.
        if let context = unsafe context { unsafe lws_cancel_service(context) }
    }

    func resumeAccepting() {
        accepted = 0
        for index in unsafe pausedListeners.indices { _ = unsafe lws_rx_flow_control(pausedListeners[index], 1) }
        unsafe pausedListeners.removeAll(keepingCapacity: true)
    }

    private func takeOldestUnauthenticated() -> WebConnection? {
        defer {
            if oldest > arrivals.count / 2 {
                arrivals.removeFirst(oldest)
                oldest = 0
            }
        }
        while oldest < arrivals.count {
            oldest += 1
            if let connection = byID[arrivals[oldest - 1]], !connection.isKnown { return connection }
        }
        return nil
    }
}

/// A Unix socket that was made.
@safe struct LocalListener {
    /// The library's.
    let listener: OpaquePointer
    private let device: dev_t
    private let inode: ino_t

    init(_ listener: OpaquePointer, _ path: String) {
        var found = stat()
        _ = unsafe lstat(path, &found)
        unsafe self.listener = unsafe listener
        (device, inode) = (found.st_dev, found.st_ino)
    }

    /// Whether `path` still names it.
    func isThere(_ path: String) -> Bool {
        var found = stat()
        return unsafe lstat(path, &found) == 0 && found.st_dev == device && found.st_ino == inode
    }
}
