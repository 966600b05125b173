package import Pawl
package import PawlCore

/// How a service is started.
package struct ServiceConfiguration: Sendable {
    /// The download root, absolute.
    package var root: String
    /// The socket file for the command line.
    package var socket: String
    /// Numeric address of the port.
    package var address = "127.0.0.1"
    /// 0 for any free one; `nil` when only the socket file is listened at.
    package var port: Int? = 6800
    /// Whether it goes on without the port when somebody else has it.
    package var canDoWithoutPort = false
    /// Why it went on without the port.
    private(set) var portRefusal: String?
    /// PEM files; with them the port speaks TLS only.
    package var certificate: String?
    package var key: String?
    /// The secret that was given; otherwise the one in the secret file counts, which is made at first.
    package var secret: String?
    /// No secret is asked for; refused when others than this machine can reach the port.
    package var needsNoSecret = false
    /// `USER:PASSWORD` to be shown with every request of the port (RFC 7617), as aria2 had it before secrets.
    ///
    /// Without a secret of its own it stands for one.
    package var login: String?
    /// Names besides `localhost` under which the port is reached.
    package var names: Set<String> = []
    package var allowsEveryOrigin = false
    /// Where aria2's clients find what is unfinished, written when they ask, every so many seconds (0: never), and at
    /// the end.
    package var sessionFile: String?
    package var sessionInterval = 0
    /// What is added at the start, unless the queue knows it already by the name that it says.
    package var entries: [InputEntry] = []
    /// Where background sessions are whose programs may be gone; `nil` when that is nothing to this service.
    package var sessions: String?
    package var options = Aria2Options()
    package var manager = DownloadManager.Configuration()
    package var limits = WebLimits()
    package var log: ServiceLog?
    package var hooks = Hooks()

    package init(root: String, socket: String) {
        self.root = root
        self.socket = socket
        manager.staysInRoot = true
    }

    /// Whether nobody else on the network can reach the port.
    package var isLoopback: Bool { address.hasPrefix("127.") || address == "::1" }

    /// Of the port, as a browser on this machine wants it.
    package func pageURL(port: Int) -> String {
        let own = ["0.0.0.0": "127.0.0.1", "::": "::1"][address] ?? address
        let host = own.contains(":") ? "[\(own)]" : own
        return "\(certificate == nil ? "http" : "https")://\(host):\(port)/"
    }

    /// The page's, `nil` without a port.
    func pageAddress(_ server: WebServer) -> String? {
        guard port != nil, let number = server.ports.last else { return nil }
        return pageURL(port: number)
    }

    /// Where the service listens.
    var addresses: [WebAddressToListen] {
        var addresses = [WebAddressToListen.local(path: socket)]
        if let port {
            addresses.append(.port(address: address, port: port, certificate: certificate, key: key))
        }
        return addresses
    }

    /// Leaves the port out when it cannot be listened at and need not be.
    mutating func settlePort() {
        guard canDoWithoutPort, let wanted = port else { return }
        do throws(Failure) {
            try AddressProbe.check(address, port: wanted)
        } catch {
            port = nil
            portRefusal = "\(error.what) \(error.place): \(error.why)"
        }
    }

    var asksNoSecret: Bool { needsNoSecret || (login != nil && secret == nil) }

    /// Throws code 28 when the port would be open to others without a secret.
    func check() throws(Failure) {
        if needsNoSecret, login == nil, port != nil, !isLoopback {
            throw Failure(
                .badOption,
                "cannot listen at",
                at: address,
                because: "others could call it without a secret",
                remedy: "leave the secret on, or listen at 127.0.0.1"
            )
        }
    }
}

extension ServiceConfiguration {
    func settings(stop: @escaping @Sendable () -> Void) -> Aria2Settings {
        Aria2Settings(root: root, sessionFile: sessionFile, options: options, stop: stop)
    }

    func requestPolicy(hasSecret: Bool) -> RequestPolicy {
        RequestPolicy(names: names, allowsEveryOrigin: allowsEveryOrigin, allowsExtensions: hasSecret)
    }
}
