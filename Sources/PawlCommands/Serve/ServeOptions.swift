package import Pawl
package import PawlCore
package import PawlServer

/// What the options of `pawl serve` say.
package struct ServeOptions: CommandOptions {
    package var root: String?
    package var socket: String?
    /// Where background sessions are.
    package var sessions: String?
    package var refusesSessions = false
    package var address = "127.0.0.1"
    /// A number, `auto`, or `none` when only the socket file is listened at.
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
    package var wantsHelp = false
    package var hooks = Hooks()
    package var logFile: String?
    package var logFormat = ServiceLog.Format.text
    package var isBackground = false
    package var installs = false
    package var installsForAll = false
    /// Who an installed service runs as.
    package var user: String?
    /// Options that an installed service keeps, as they were given, without those that say where it is.
    package var kept: [String] = []

    package init() {}

    /// Where background sessions are that it goes on with; without being told so, it does not where it was asked to start
    /// nothing by itself, or to connect to less than their programs may.
    package var sessionsFolder: String? {
        if refusesSessions { return nil }
        if let sessions { return ServicePlace.absolute(sessions) }
        if manager.deniesPrivateAddresses || !manager.resumesAtStart { return nil }
        return SessionRoot.usualState.map(ServicePlace.absolute)
    }

    /// Twice as much, since the last file is kept beside the new one.
    private static let logSize: Int64 = 4 << 20

    /// Where it logs; in the background it has a file beside the queue.
    package func log(isDetached: Bool, root: String) throws(Failure) -> ServiceLog? {
        if let logFile { return try ServiceLog(path: ServicePlace.absolute(logFile), format: logFormat) }
        if isDetached {
            return ServiceLog(path: root + "/.pawl/log", format: logFormat, limit: ServeOptions.logSize)
        }
        return isQuiet ? nil : try ServiceLog(path: nil, format: logFormat)
    }

    /// How the service is started; paths in it are absolute.
    package func configuration() throws(Failure) -> ServiceConfiguration {
        var configuration = ServiceConfiguration(
            root: try ServicePlace.root(root),
            socket: try ServicePlace.socket(socket)
        )
        configuration.sessions = sessionsFolder
        configuration.address = address
        switch (port ?? environmentVariable("PAWL_PORT"))?.lowercased() {
        case nil: break
        case "auto": configuration.canDoWithoutPort = true
        case "none": configuration.port = nil
        case .some(let number):
            configuration.port = try OptionValues.integer("port", number, in: 0...65535)
        }
        configuration.certificate = certificate.map(ServicePlace.absolute)
        configuration.key = key.map(ServicePlace.absolute)
        configuration.secret = secret
        if let secretFile {
            configuration.secret = try SecretFile.text(at: ServicePlace.absolute(secretFile))
        }
        configuration.needsNoSecret = needsNoSecret
        configuration.names = names
        configuration.allowsEveryOrigin = allowsEveryOrigin
        configuration.manager = manager
        configuration.hooks = hooks
        configuration.manager.staysInRoot = true
        configuration.manager.stateFolder = StateFolder.usual
        return configuration
    }
}
