package import Pawl
package import PawlBase
package import PawlWeb

/// aria2's RPC methods on Pawl's queue.
package struct Aria2Methods: RPCMethods {
    typealias Method = @Sendable (Aria2Methods, RPCParameters) async throws -> JSON

    let manager: DownloadManager
    /// It has no name for them: their downloads are what clients see.
    let collections: CollectionQueue
    let settings: Aria2Settings

    package init(manager: DownloadManager, collections: CollectionQueue, settings: Aria2Settings) {
        self.manager = manager
        self.collections = collections
        self.settings = settings
    }

    package var names: [String] { Aria2Methods.table.keys.sorted() }
    package func has(_ name: String) -> Bool { Aria2Methods.table[name] != nil }

    package var notifications: [String] {
        ["Start", "Pause", "Stop", "Complete", "Error"].map { "aria2.onDownload\($0)" } + ["aria2.onBtDownloadComplete"]
    }

    package func isReadOnly(_ method: String) -> Bool {
        method.hasPrefix("aria2.get") || method.hasPrefix("aria2.tell")
    }

    package func returnsOptions(_ method: String) -> Bool {
        method == "aria2.getOption" || method == "aria2.getGlobalOption"
    }

    package func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON {
        guard let body = Aria2Methods.table[method] else { throw .noSuchMethod(method) }
        do { return try await body(self, RPCParameters(parameters, rights)) } catch let error as RPCError {
            throw error
        } catch let error as PawlError { throw RPCError(error.description) } catch {
            throw RPCError(String(describing: error))
        }
    }

    private static let table: [String: Method] = [
        "aria2.addUri": { try await $0.addURI($1) }, "aria2.addMetalink": { try await $0.addMetalink($1) },
        "aria2.addTorrent": { try await $0.addTorrent($1) },
        "aria2.remove": { try await $0.remove($1) }, "aria2.forceRemove": { try await $0.remove($1) },
        "aria2.pause": { try await $0.pause($1) }, "aria2.forcePause": { try await $0.pause($1) },
        "aria2.pauseAll": { methods, _ in try await methods.pauseAll() },
        "aria2.forcePauseAll": { methods, _ in try await methods.pauseAll() },
        "aria2.unpause": { try await $0.unpause($1) },
        "aria2.unpauseAll": { methods, _ in try await methods.unpauseAll() },
        "aria2.tellStatus": { try await $0.tellStatus($1) }, "aria2.getUris": { try await $0.getURIs($1) },
        "aria2.getFiles": { try await $0.getFiles($1) }, "aria2.getPeers": { try await $0.getPeers($1) },
        "aria2.getServers": { try await $0.getServers($1) }, "aria2.tellActive": { try await $0.tellActive($1) },
        "aria2.tellWaiting": { try await $0.tellWaiting($1) }, "aria2.tellStopped": { try await $0.tellStopped($1) },
        "aria2.changePosition": { try await $0.changePosition($1) }, "aria2.changeUri": { try await $0.changeURI($1) },
        "aria2.getOption": { try await $0.getOption($1) }, "aria2.changeOption": { try await $0.changeOption($1) },
        "aria2.getGlobalOption": { methods, _ in try await methods.getGlobalOption() },
        "aria2.changeGlobalOption": { try await $0.changeGlobalOption($1) },
        "aria2.getGlobalStat": { methods, _ in try await methods.getGlobalStat() },
        "aria2.purgeDownloadResult": { methods, _ in try await methods.purge() },
        "aria2.removeDownloadResult": { try await $0.removeResult($1) },
        "aria2.getVersion": { methods, _ in methods.version },
        "aria2.getSessionInfo": { methods, _ in ["sessionId": .string(methods.settings.sessionID)] },
        "aria2.shutdown": { methods, _ in methods.settings.shutDown() },
        "aria2.forceShutdown": { methods, _ in methods.settings.shutDown() },
        "aria2.saveSession": { methods, _ in try await methods.saveSession() },
    ]
}

/// The version of aria2 whose behavior is reproduced, as the command line and RPC report it.
package enum Aria2Version {
    package static let text = "1.36.0"

    package static let features = ["Async DNS", "GZip", "HTTPS", "Message Digest", "Metalink", "XML-RPC", "SFTP"]
}
