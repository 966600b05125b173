package import Pawl
package import PawlBase
package import PawlServer
import PawlSystem
package import PawlTerminal

/// The options of `pawl serve`.
package struct ServeOptions: CommandOptions {
    package var root: String?
    package var socket: String?
    /// The folder of background sessions.
    package var sessions: String?
    package var refusesSessions = false
    package var address = "127.0.0.1"
    /// A number, `auto`, or `none` to listen on the Unix socket only.
    package var port: String?
    package var certificate: String?
    package var key: String?
    package var secret: String?
    package var secretFile: String?
    package var needsNoSecret = false
    package var names: Set<String> = []
    package var allowsEveryOrigin = false
    package var manager = DownloadManager.Configuration()
    package var isQuiet = false
    package var help: HelpLength?
    package var hooks = Hooks()
    package var logFile: String?
    package var logFormat = ServiceLog.Format.text
    package var isBackground = false
    package var installs = false
    /// Shows the unit instead of installing it.
    package var printsUnit = false
    package var uninstalls = false
    package var installsForAll = false
    /// The user that an installed service runs as.
    package var user: String?
    /// Options that an installed service keeps, as given, without those for its root and socket.
    package var kept: [String] = []

    package init() {}

    /// The folder of the background sessions to resume; by default none if the service starts paused, or may connect to
    /// less than their programs.
    package var sessionsFolder: String? {
        if refusesSessions { return nil }
        if let sessions { return ServicePlace.absolute(sessions) }
        if manager.deniesPrivateAddresses || !manager.resumesAtStart { return nil }
        return SessionRoot.usualState.map(ServicePlace.absolute)
    }

    /// Bytes per log file; the total is twice this, since the previous file is kept.
    private static let logSize: Int64 = 4 << 20

    /// The log; in the background, a file next to the queue.
    package func log(isDetached: Bool, root: String) throws(Failure) -> ServiceLog? {
        if let logFile { return try ServiceLog(path: ServicePlace.absolute(logFile), format: logFormat) }
        if isDetached { return ServiceLog(path: root + "/.pawl/log", format: logFormat, limit: ServeOptions.logSize) }
        return isQuiet ? nil : try ServiceLog(path: nil, format: logFormat)
    }

    /// The configuration of the service, with absolute paths.
    package func configuration() throws(Failure) -> ServiceConfiguration {
        var configuration = ServiceConfiguration(
            root: try ServicePlace.root(root), socket: try ServicePlace.socket(socket))
        configuration.isUsualSocket = configuration.socket == (try? ServicePlace.usualSocket())
        configuration.sessions = sessionsFolder
        configuration.address = address
        var wanted = port
        if port == nil, let usual = Environment.value("PAWL_PORT") { wanted = try OptionValues.port(usual) }
        switch wanted?.lowercased() {
        case nil: break
        case "auto": configuration.canDoWithoutPort = true
        case "none": configuration.port = nil
        case .some(let number): configuration.port = try OptionValues.integer("port", number, in: 0...65535)
        }
        configuration.certificate = certificate.map(ServicePlace.absolute)
        configuration.key = key.map(ServicePlace.absolute)
        configuration.secret = secret
        if let secretFile {
            let path = ServicePlace.absolute(secretFile)
            configuration.secret = try SecretFile.text(at: path) { configuration.notices.append($0) }
        }
        configuration.needsNoSecret = needsNoSecret
        configuration.names = names
        configuration.allowsEveryOrigin = allowsEveryOrigin
        configuration.manager = manager
        configuration.hooks = hooks
        configuration.manager.staysInRoot = true
        configuration.manager.stateFolder = Environment.pawlState
        return configuration
    }
}
