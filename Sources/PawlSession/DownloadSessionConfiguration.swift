import Pawl

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
    /// Seconds in which the service must have let go of the session; it has journals to sync.
    var handoverPatience = 60.0

    private init(identifier: String?) { self.identifier = identifier }

    /// Tasks that end with the session.
    public static var `default`: Self { Self(identifier: nil) }
    /// The same as ``default``: no session of this library keeps cookies, credentials or a cache.
    public static var ephemeral: Self { Self(identifier: nil) }
    /// Tasks that are found again under this name when the program was ended, however that happened.
    ///
    /// While no program has a session of the identifier, `pawl serve` of the same user goes on with what was running, if it
    /// runs; otherwise nothing is transferred in between. A session that is made takes everything over, and its delegate
    /// hears what happened meanwhile. One program at a time can have a session of an identifier.
    public static func background(withIdentifier identifier: String) -> Self { Self(identifier: identifier) }

    private static var usualStateFolder: String { SessionRoot.usualState ?? "./.local/state/pawl/sessions" }
}
