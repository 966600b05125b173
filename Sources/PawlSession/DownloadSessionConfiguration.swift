#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How a ``DownloadSession`` works, in the shape of `URLSessionConfiguration`.
public struct DownloadSessionConfiguration: Sendable, Hashable {
    /// The name under which a background session finds its tasks again; `nil` for the others.
    public let identifier: String?
    /// Tasks that transfer at once; the rest wait for their turn.
    ///
    /// Default 3. A suspended task keeps its place among them.
    public var maximumConcurrentTasks = 3
    /// Header fields that every request gets, unless it names them itself.
    public var httpAdditionalHeaders: [String: String] = [:]
    /// Longest silence in seconds.
    ///
    /// Default 60.
    public var timeoutIntervalForRequest = 60.0
    /// Attempts after the first that bring no new byte.
    ///
    /// Default 5.
    public var retries = 5
    /// Where sessions keep what has to outlive a program, one folder an identifier.
    ///
    /// Default `$XDG_STATE_HOME/pawl/sessions`, else `~/.local/state/pawl/sessions`.
    public var stateFolder = Self.usualStateFolder
    /// Where partials lie that the resume data of Apple's `NSURLSession` names.
    ///
    /// Default `nil`: only resume data of this library's own sessions has a partial.
    public var partialFolder: String?

    private init(identifier: String?) { self.identifier = identifier }

    /// Tasks that end with the session.
    public static var `default`: Self { Self(identifier: nil) }
    /// The same as ``default``: no session of this library keeps cookies, credentials or a cache.
    public static var ephemeral: Self { Self(identifier: nil) }
    /// Tasks that are found again under this name when the program was ended, however that happened.
    ///
    /// The process owns them: they go on when one makes a session of the identifier again, not in between, also where
    /// `pawl serve` runs. One process at a time can have a session of an identifier.
    public static func background(withIdentifier identifier: String) -> Self { Self(identifier: identifier) }

    private static var usualStateFolder: String {
        if let state = environment("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/pawl/sessions" }
        return "\(environment("HOME") ?? ".")/.local/state/pawl/sessions"
    }

    private static func environment(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
