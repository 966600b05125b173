#if Queue
/// A request for a decision about authentication, with the interface of `URLAuthenticationChallenge`.
public struct SessionChallenge: Sendable {
    /// What the decision is about.
    public let protectionSpace: ProtectionSpace
    /// How many credentials were rejected before.
    public let previousFailureCount: Int
    /// The response with the challenge, 401 or 407; `nil` for certificates.
    public let failureResponse: SessionResponse?
    /// The task whose request it concerns.
    public let task: DownloadTask?

    /// Creates a challenge, for tests of delegates.
    public init(
        protectionSpace: ProtectionSpace, previousFailureCount: Int = 0, failureResponse: SessionResponse? = nil,
        task: DownloadTask? = nil
    ) {
        self.protectionSpace = protectionSpace
        self.previousFailureCount = previousFailureCount
        self.failureResponse = failureResponse
        self.task = task
    }

    /// The decision, as in `URLSession.AuthChallengeDisposition`.
    public enum Disposition: Int, Sendable, Hashable, CaseIterable {
        /// Use the credential.
        case useCredential
        /// Handle it as without a delegate: credentials of the session's options, and the system's trust store.
        case performDefaultHandling
        /// Cancel the task.
        case cancelAuthenticationChallenge
        /// Go on without a credential: the response with the challenge is that of the task.
        ///
        /// A server whose certificate is rejected is not connected to.
        case rejectProtectionSpace
    }

    /// The part of a server or proxy that requires authentication, with the interface of `URLProtectionSpace`.
    public struct ProtectionSpace: Sendable, Hashable {
        /// The server's host name; where a proxy requires the login, that of the server behind it.
        public let host: String
        /// The port of ``host``.
        public let port: Int
        /// `http` or `https`.
        public let `protocol`: String?
        /// The realm of the challenge.
        public let realm: String?
        /// The method, named as Foundation's constants.
        public let authenticationMethod: String
        /// Whether a proxy requires it.
        public let isProxy: Bool
        /// The server's certificates; `nil` for other methods.
        public let serverTrust: ServerTrust?

        /// Creates a space, for tests of delegates.
        public init(
            host: String, port: Int, protocol: String? = nil, realm: String? = nil, authenticationMethod: String,
            isProxy: Bool = false, serverTrust: ServerTrust? = nil
        ) {
            self.host = host
            self.port = port
            self.`protocol` = `protocol`
            self.realm = realm
            self.authenticationMethod = authenticationMethod
            self.isProxy = isProxy
            self.serverTrust = serverTrust
        }

        /// `NSURLAuthenticationMethodHTTPBasic`.
        public static let httpBasic = "NSURLAuthenticationMethodHTTPBasic"
        /// `NSURLAuthenticationMethodHTTPDigest`.
        public static let httpDigest = "NSURLAuthenticationMethodHTTPDigest"
        /// `NSURLAuthenticationMethodServerTrust`.
        public static let serverTrust = "NSURLAuthenticationMethodServerTrust"
        /// `NSURLAuthenticationMethodClientCertificate`.
        public static let clientCertificate = "NSURLAuthenticationMethodClientCertificate"
    }

    /// The certificates that a server presented, for pinning.
    public struct ServerTrust: Sendable, Hashable {
        /// The certificates in DER form, the server's own first.
        public let certificates: [[UInt8]]
        /// Why the chain or the host's name is not trusted; `nil` if it is.
        ///
        /// ``SessionCredential/init(trust:)`` accepts the server in any case. With another credential, such as a login, and
        /// without one it is judged as usual.
        public let error: String?

        /// Creates a chain, for tests of delegates.
        public init(
            certificates: [[UInt8]], error: String? = nil
        ) {
            self.certificates = certificates
            self.error = error
        }

        /// Whether the trust store's authorities and the host's name confirm the server.
        public var isTrusted: Bool { error == nil }
    }
}

/// A decision's credential, with the interface of `URLCredential`.
public struct SessionCredential: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        case login(user: String, password: String)
        case certificate(file: String, key: String?)
        case trust
    }

    package let kind: Kind

    /// A login.
    public init(user: String, password: String) { kind = .login(user: user, password: password) }

    /// A client certificate: PEM files, or one with both.
    public init(certificateFile: String, keyFile: String? = nil) {
        kind = .certificate(file: certificateFile, key: keyFile)
    }

    /// Accepts the server's certificates.
    public init(trust: SessionChallenge.ServerTrust) { kind = .trust }

    private init(_ kind: Kind) { self.kind = kind }

    /// Accepts the server's certificates.
    package static let trusting = Self(.trust)

    /// The user of a login.
    public var user: String? { if case .login(let user, _) = kind { user } else { nil } }
    /// The password of a login.
    public var password: String? { if case .login(_, let password) = kind { password } else { nil } }
}
#endif
