package import Pawl
import PawlBase
package import PawlIntake
package import PawlServer
package import PawlWeb

/// aria2's interface to the service: its methods over JSON-RPC and XML-RPC, its notifications and its session file.
package struct Aria2Extension: ServiceExtension {
    private let configuration: Aria2Configuration
    private let aria2: Aria2Methods
    private let session: SessionKeeper

    package init(_ configuration: Aria2Configuration, _ service: ServiceContext) {
        self.configuration = configuration
        aria2 = Aria2Methods(
            manager: service.manager, collections: service.collections, settings: Aria2Settings(configuration, service))
        session = SessionKeeper(aria2, interval: configuration.sessionInterval, log: service.log)
    }

    package var methods: any RPCMethods { aria2 }

    package var encodings: [String: RPCEncoding] {
        let encoding = RPCEncoding(name: "XML-RPC", contentType: "text/xml", parse: XMLCall.parse) { reply, method in
            XMLCall.response(reply, isMulticall: method == "system.multicall")
        }
        return ["/rpc": encoding]
    }

    package func notification(of occasion: Hooks.Occasion, _ id: Download.ID) -> [UInt8] {
        let word = occasion.rawValue
        let message: JSON = [
            "jsonrpc": "2.0", "method": .string("aria2.onDownload\(word.prefix(1).uppercased() + word.dropFirst())"),
            "params": [["gid": .string(id.description)]],
        ]
        return message.utf8
    }

    package func begin() async {
        if configuration.isStandIn { await session.forgetOthers(than: configuration.entries) }
        await session.load(configuration.entries)
    }

    package func hear(_ event: DownloadEvent) async {
        if configuration.isStandIn, case .finished = event.kind { await aria2.follow(event.id) }
    }

    package func end() async { await session.close() }
}

/// The configuration of aria2's interface to the service.
package struct Aria2Configuration: Sendable {
    /// Whether the service takes aria2c's place: forgets its clients' downloads at its end, accepts every host name if
    /// the secret is right, and notifies WebSockets from this machine without a call.
    package var isStandIn = false
    /// aria2's session file with unfinished downloads, written on request, at an interval in seconds (0: never), and at
    /// the end.
    package var sessionFile: String?
    package var sessionInterval = 0
    /// Downloads added at the start, unless the queue contains their identifier already.
    package var entries: [InputEntry] = []
    package var options = Aria2Options()

    package init() {}

    /// Gives a service this interface.
    package func extend(_ service: inout ServiceConfiguration) {
        if isStandIn {
            service.allowsNamesWithSecret = true
            service.notifiesOwnMachine = true
            service.portRemedy = "choose another with --rpc-listen-port"
        }
        service.extensions.append { Aria2Extension(self, $0) }
    }
}
