import Pawl
import PawlBase
package import PawlServer
import PawlWeb
import Synchronization

/// The service's state as aria2 clients see it, and the options for all later downloads.
package final class Aria2Settings: Sendable {
    /// 40 hexadecimal digits, different at each start.
    package let sessionID: String
    /// The download root, absolute.
    package let root: String
    /// The path for `saveSession`; `nil` if the service was started without one.
    package let sessionFile: String?
    /// Options for which neither a call nor the global options give a value.
    let defaults: ServiceDefaults
    /// Whether the service runs as `aria2c`.
    let isStandIn: Bool
    /// The downloads of the files of Metalinks that were fetched.
    let followers = Mutex<[Download.ID: Task<[Download.ID], Never>]>([:])
    private let stop: @Sendable () -> Void
    private let global: Mutex<Aria2Options>

    package init(_ configuration: Aria2Configuration, _ service: ServiceContext) {
        root = service.root
        sessionFile = configuration.sessionFile
        defaults = service.defaults
        isStandIn = configuration.isStandIn
        stop = service.stop
        global = Mutex(configuration.options)
        sessionID = (0..<40).map { _ in String(Int.random(in: 0..<16), radix: 16) }.joined()
    }

    var options: Aria2Options { global.withLock { $0 } }

    func take(_ given: JSON) throws(RPCError) -> Aria2Options {
        try global.withLock { options throws(RPCError) in
            var changed = options
            try changed.take(given, scope: .global)
            // Every later download would be refused.
            if let folder = changed["dir"] { try check(folder) }
            options = changed
            return changed
        }
    }

    private func check(_ folder: String) throws(RPCError) {
        let place = try Aria2Options.folder(folder, root: root)
        do throws(PawlError) { _ = try DownloadRequest.checkedFolder(place) } catch {
            throw RPCError(Int(error.code.rawValue), error.description)
        }
    }

    /// Clients expect a delay of three seconds, in which the response arrives.
    func shutDown() -> JSON {
        Task { [stop] in
            try? await Task.sleep(for: .seconds(3))
            stop()
        }
        return "OK"
    }
}
