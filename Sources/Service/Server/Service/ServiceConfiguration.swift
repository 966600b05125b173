package import Pawl
package import PawlBase
package import PawlWeb

/// The configuration of the service.
package struct ServiceConfiguration: Sendable {
    /// The download root, absolute.
    package var root: String
    /// The socket file for the command line.
    package var socket: String
    /// Whether that is the one that commands use without `--socket`.
    package var isUsualSocket = false
    /// Numeric address of the port.
    package var address = "127.0.0.1"
    /// 0 for any free one; `nil` for the Unix socket only.
    package var port: Int? = 6800
    /// Whether it runs without the port if another process uses it.
    package var canDoWithoutPort = false
    /// What to do if the port is in use.
    package var portRemedy = ListenAddress.otherPort
    /// Why it runs without the port.
    private(set) var portRefusal: String?
    /// PEM files; with them the port speaks TLS only.
    package var certificate: String?
    package var key: String?
    /// The given secret; else the one in the secret file, which is generated at the first start.
    package var secret: String?
    /// No secret is required; refused if other machines can reach the port.
    package var needsNoSecret = false
    /// `USER:PASSWORD` required with every request to the port (RFC 7617), as in aria2 before secrets.
    ///
    /// Without a secret it also serves as the secret.
    package var login: String?
    /// What the owner must know of the files that were read for it.
    package var notices: [String] = []
    /// Names besides `localhost` under which the port is reached.
    package var names: Set<String> = []
    package var allowsEveryOrigin = false
    /// Whether a request may use any host name if the secret is right.
    package var allowsNamesWithSecret = false
    /// Whether WebSockets from this machine are notified without a call.
    package var notifiesOwnMachine = false
    /// Whether other machines may call without a secret.
    package var allowsUnauthenticated = false
    /// The folder of background sessions to take over; `nil` for none.
    package var sessions: String?
    /// Further interfaces to the queue.
    package var extensions: [@Sendable (ServiceContext) -> any ServiceExtension] = []
    let defaults = ServiceDefaults()
    let atEnd = AtEnd()
    package var manager = DownloadManager.Configuration()
    package var limits = WebLimits()
    package var log: ServiceLog?
    package var hooks = Hooks()

    package init(root: String, socket: String) {
        self.root = root
        self.socket = socket
        manager.staysInRoot = true
    }

    /// Whether no other machine can reach the port.
    package var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" }

    /// The port's URL for a browser on this machine.
    package func pageURL(port: Int) -> String {
        let own = ["0.0.0.0": "127.0.0.1", "::": "::1"][address] ?? address
        let host = own.contains(":") ? "[\(own)]" : own
        return "\(certificate == nil ? "http" : "https")://\(host):\(port)/"
    }

    /// The page's URL, `nil` without a port.
    func pageAddress(_ server: WebServer) -> String? {
        guard port != nil, let number = server.ports.last else { return nil }
        return pageURL(port: number)
    }

    /// Where the service listens.
    var addresses: [ListenAddress] {
        var addresses = [ListenAddress.local(path: socket)]
        if let port { addresses.append(.port(address: address, port: port, certificate: certificate, key: key)) }
        return addresses
    }

    /// Drops the port if it cannot be bound and is optional.
    mutating func settlePort() {
        guard canDoWithoutPort, let wanted = port else { return }
        do throws(Failure) { try ListenAddress.check(address, port: wanted) } catch {
            port = nil
            let remedy = "restart the service when the port is free, or with another one"
            portRefusal = "\(error.what) \(error.place): \(error.why); \(remedy)"
        }
    }

    var asksNoSecret: Bool { needsNoSecret || (login != nil && secret == nil) }

    /// Throws code 28 when the port would be open to others without a secret.
    func check() throws(Failure) {
        if needsNoSecret, login == nil, port != nil, !isLoopback, !allowsUnauthenticated {
            throw Failure(
                .badOption, "cannot listen at", at: address, because: "other machines could call it without a secret",
                remedy: "require a secret, or listen at 127.0.0.1")
        }
    }
}

extension ServiceConfiguration {
    /// Throws code 28 when the port cannot be used.
    package func checkPort() throws(Failure) {
        try check()
        guard let port, !canDoWithoutPort else { return }
        try ListenAddress.check(address, port: port, remedy: portRemedy)
    }

    func requestPolicy(hasSecret: Bool) -> RequestPolicy {
        RequestPolicy(
            names: names, allowsEveryOrigin: allowsEveryOrigin, allowsExtensions: hasSecret,
            allowsNamesWithSecret: allowsNamesWithSecret && hasSecret)
    }
}
