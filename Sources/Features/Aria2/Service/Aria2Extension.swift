package import Pawl
import PawlBase
package import PawlServer
package import PawlWeb

/// aria2's interface to the service: its methods over JSON-RPC and XML-RPC, its notifications and its session file.
package struct Aria2Extension: ServiceExtension {
    private let configuration: Aria2Configuration
    private let aria2: Aria2Methods
    private let session: SessionKeeper

    package init(_ configuration: Aria2Configuration, _ service: ServiceContext) {
        self.configuration = configuration
        aria2 = Aria2Methods(manager: service.manager, settings: Aria2Settings(configuration, service))
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
