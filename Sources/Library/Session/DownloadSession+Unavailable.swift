#if Queue
// What `URLSession` has and a session of downloads has not: ported code that uses it does not compile.
extension DownloadSession {
    /// Content in memory: see `Downloader.data(from:maximumSize:options:hooks:)`.
    @available(*, unavailable, message: "use Downloader.data(from:) of the library Pawl for content in memory")
    public func dataTask(with request: Any) -> DownloadTask { preconditionFailure() }

    /// Content in memory: see `Downloader.data(from:maximumSize:options:hooks:)`.
    @available(*, unavailable, message: "use Downloader.data(from:) of the library Pawl for content in memory")
    public func dataTask(with request: Any, completionHandler: Any) -> DownloadTask { preconditionFailure() }

    /// A session only downloads.
    @available(*, unavailable, message: "a session only downloads; use FoundationNetworking for uploads")
    public func uploadTask(with request: Any, from body: Any) -> DownloadTask { preconditionFailure() }

    /// A session only downloads.
    @available(*, unavailable, message: "a session only downloads; use FoundationNetworking for uploads")
    public func uploadTask(with request: Any, fromFile file: Any) -> DownloadTask { preconditionFailure() }

    /// A session only downloads.
    @available(*, unavailable, message: "a session only downloads files") public func streamTask(
        withHostName name: String, port: Int
    ) -> DownloadTask { preconditionFailure() }

    /// A session only downloads.
    @available(*, unavailable, message: "a session only downloads; use FoundationNetworking for WebSockets")
    public func webSocketTask(with request: Any) -> DownloadTask { preconditionFailure() }

    /// There is no shared session.
    @available(*, unavailable, message: "create a session with a configuration") public static var shared:
        DownloadSession
    { preconditionFailure() }
}

// Each has a setter: without one, the compiler tells of that instead of what to use.
extension DownloadSessionConfiguration {
    /// Linux does not tell which networks are cellular.
    @available(*, unavailable, message: "Linux does not tell which networks are cellular") public
        var allowsCellularAccess: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Linux does not tell which networks are expensive.
    @available(*, unavailable, message: "Linux does not tell which networks are expensive") public
        var allowsExpensiveNetworkAccess: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Linux does not tell which networks are constrained.
    @available(*, unavailable, message: "Linux does not tell which networks are constrained") public
        var allowsConstrainedNetworkAccess: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Tasks run as soon as there is a slot.
    @available(*, unavailable, message: "tasks run as soon as there is a slot") public var isDiscretionary: Bool {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Programs are not launched; `pawl serve` continues the tasks.
    @available(*, unavailable, message: "programs are not launched; 'pawl serve' continues the tasks") public
        var sessionSendsLaunchEvents: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Responses are not cached.
    @_disfavoredOverload  // As below.
    @available(*, unavailable, message: "responses are not cached") public var urlCache: Any? {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Cookies are sent from `options.cookieFile`, and none are stored.
    @_disfavoredOverload  // As below.
    @available(*, unavailable, message: "set options.cookieFile; no cookies are stored") public var httpCookieStorage:
        Any?
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Credentials are those of `options`.
    @_disfavoredOverload  // As below.
    @available(*, unavailable, message: "set options.user and options.password, or options.netrc") public
        var urlCredentialStorage: Any?
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Proxies are those of `options`.
    @available(*, unavailable, message: "set options.proxy and options.noProxy") public var connectionProxyDictionary:
        [AnyHashable: Any]?
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Responses are not cached.
    @_disfavoredOverload  // PawlFoundation has the same with Foundation's type.
    @available(*, unavailable, message: "responses are not cached") public var requestCachePolicy: CachePolicy {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// TLS 1.2 is the oldest version.
    @available(*, unavailable, message: "TLS 1.2 is the oldest version that is used") public
        var tlsMinimumSupportedProtocolVersion: TLSVersion
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// TLS 1.2 is the oldest version.
    @available(*, unavailable, message: "TLS 1.2 is the oldest version that is used") public
        var tlsMinimumSupportedProtocol: TLSVersion
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// The newest version that both sides support is used.
    @available(*, unavailable, message: "the newest TLS version that both sides support is used") public
        var tlsMaximumSupportedProtocolVersion: TLSVersion
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// The newest version that both sides support is used.
    @available(*, unavailable, message: "the newest TLS version that both sides support is used") public
        var tlsMaximumSupportedProtocol: TLSVersion
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Linux has no multipath service types.
    @available(*, unavailable, message: "Linux chooses the network path itself") public var multipathServiceType:
        MultipathServiceType
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Each task has its own connection.
    @available(*, unavailable, message: "requests are not pipelined: each task has its own connection") public
        var httpShouldUsePipelining: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// A program that does not run has no connections.
    @available(*, unavailable, message: "'pawl serve' continues the tasks of a program that does not run") public
        var shouldUseExtendedBackgroundIdleMode: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Names are looked up by the system.
    @available(*, unavailable, message: "the system's resolver decides about DNSSEC") public
        var requiresDNSSECValidation: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Proxies are those of `options`.
    @available(*, unavailable, message: "set options.proxy and options.noProxy") public var proxyConfigurations: [Any] {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Cookies are sent from `options.cookieFile`, and none are stored.
    @available(*, unavailable, message: "set options.cookieFile; no cookies are stored") public
        var httpShouldSetCookies: Bool
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Cookies are sent from `options.cookieFile`, and none are stored.
    @_disfavoredOverload  // As above.
    @available(*, unavailable, message: "set options.cookieFile; no cookies are stored") public
        var httpCookieAcceptPolicy: CookieAcceptPolicy
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Linux has no service types of networks.
    @_disfavoredOverload  // As above.
    @available(*, unavailable, message: "Linux has no service types of networks") public var networkServiceType:
        NetworkServiceType
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// State is in `stateFolder`.
    @available(*, unavailable, renamed: "stateFolder") public var sharedContainerIdentifier: String? {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Protocols are built in.
    @available(*, unavailable, message: "protocols are built in") public var protocolClasses: [AnyClass]? {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }
}

// The values of these properties, so that the compiler tells what to use instead of that there is no such value.
extension DownloadSessionConfiguration {
    /// The names of `URLRequest.CachePolicy`.
    public enum CachePolicy: Sendable {
        /// As there.
        case useProtocolCachePolicy, reloadIgnoringLocalCacheData, reloadIgnoringLocalAndRemoteCacheData
        /// As there.
        case reloadIgnoringCacheData, returnCacheDataElseLoad, returnCacheDataDontLoad
        /// As there.
        case reloadRevalidatingCacheData
    }

    /// The names of `URLRequest.NetworkServiceType`.
    public enum NetworkServiceType: Sendable {
        /// As there.
        case `default`, voip, video, background, voice, responsiveData, avStreaming, responsiveAV
        /// As there.
        case callSignaling, networkServiceTypeCallSignaling
    }

    /// The names of `HTTPCookie.AcceptPolicy`.
    public enum CookieAcceptPolicy: Sendable {
        /// As there.
        case always, never, onlyFromMainDocumentDomain
    }

    /// The names of `URLSessionConfiguration.MultipathServiceType`.
    public enum MultipathServiceType: Sendable {
        /// As there.
        case none, handover, interactive, aggregate
    }

    // swift-format-ignore: AlwaysUseLowerCamelCase
    /// The names of `tls_protocol_version_t` and `SSLProtocol`.
    public enum TLSVersion: Sendable {
        /// As there.
        case TLSv10, TLSv11, TLSv12, TLSv13, DTLSv10, DTLSv12
        /// As there.
        case tlsProtocol1, tlsProtocol11, tlsProtocol12, tlsProtocol13
    }
}

extension DownloadTask {
    /// The system schedules nothing by it.
    @available(
        *, unavailable, message: "tasks run as soon as there is a slot; countOfBytesExpectedToReceive has the size"
    ) public var countOfBytesClientExpectsToReceive: Int64 {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Downloads have no body in their requests.
    @available(*, unavailable, message: "a download has no body in its request") public
        var countOfBytesClientExpectsToSend: Int64
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// A file is given when it is complete.
    @available(*, unavailable, message: "a file is given when it is complete; see DownloadBody of the library Pawl")
    public var prefersIncrementalDelivery: Bool {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }
}

// Foundation on Linux observes no key paths, neither these nor those of a `Progress`.
extension DownloadTask {
    /// Key paths cannot be observed on Linux.
    @available(
        *, unavailable, message: "key paths cannot be observed on Linux; implement didWriteData, or read progress"
    ) public func observe<Value>(
        _ keyPath: KeyPath<DownloadTask, Value>, changeHandler: @escaping (DownloadTask, Any) -> Void
    ) -> Any { preconditionFailure() }

    /// Key paths cannot be observed on Linux.
    @available(
        *, unavailable, message: "key paths cannot be observed on Linux; implement didWriteData, or read progress"
    ) public func observe<Value>(
        _ keyPath: KeyPath<DownloadTask, Value>, options: ObservingOptions,
        changeHandler: @escaping (DownloadTask, Any) -> Void
    ) -> Any { preconditionFailure() }

    /// The options of `NSKeyValueObservingOptions`, so that the compiler tells what to use instead.
    public struct ObservingOptions: OptionSet, Sendable {
        /// The bits.
        public let rawValue: Int
        /// Creates options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }
        /// The new value.
        public static let new = Self(rawValue: 1)
        /// The old value.
        public static let old = Self(rawValue: 2)
        /// The value when the observation begins.
        public static let initial = Self(rawValue: 4)
        /// A call before the change.
        public static let prior = Self(rawValue: 8)
    }
}
#endif
