#if Queue
public import Foundation
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The authentication method of a server's certificate, which Foundation has on Apple's systems only.
public let NSURLAuthenticationMethodServerTrust = SessionChallenge.ProtectionSpace.serverTrust
// swift-format-ignore: AlwaysUseLowerCamelCase
/// The authentication method of a client certificate, which Foundation has on Apple's systems only.
public let NSURLAuthenticationMethodClientCertificate = SessionChallenge.ProtectionSpace.clientCertificate

/// A server's certificates, in place of `SecTrust`.
public typealias SecTrust = SessionChallenge.ServerTrust

extension SessionChallenge.ServerTrust {
    /// The certificates in DER form, the server's own first.
    public var certificateData: [Data] { certificates.map { Data($0) } }
}

extension URLProtectionSpace {
    /// The server's certificates, for the method `NSURLAuthenticationMethodServerTrust`.
    public var serverTrust: SessionChallenge.ServerTrust? { (self as? TaskSpace)?.trust }
}

extension URLCredential {
    /// Accepts the server's certificates.
    public convenience init(trust: SessionChallenge.ServerTrust) {
        self.init(user: "", password: Self.trusting, persistence: .none)
    }

    fileprivate static var trustingServer: URLCredential {
        URLCredential(user: "", password: trusting, persistence: .none)
    }

    /// Distinguishes such a credential from every login; Foundation on Linux has no field for it.
    fileprivate static let trusting = UUID().uuidString
}

/// A client certificate as a credential: PEM files, in place of `URLCredential(identity:certificates:)`.
public final class ClientCertificate: URLCredential, @unchecked Sendable {  // nothing in it changes
    let certificate: SessionCredential

    /// A certificate and its key, or one file with both.
    public init(certificateFile: String, keyFile: String? = nil) {
        certificate = SessionCredential(certificateFile: certificateFile, keyFile: keyFile)
        super.init(user: "", password: "", persistence: .none)
    }

    /// Not supported.
    public required init?(coder: NSCoder) { nil }
}

/// A protection space with certificates.
private final class TaskSpace: URLProtectionSpace, @unchecked Sendable {  // nothing in it changes
    let trust: SessionChallenge.ServerTrust?
    private let isOfProxy: Bool

    init(_ space: SessionChallenge.ProtectionSpace) {
        trust = space.serverTrust
        isOfProxy = space.isProxy
        super.init(
            host: space.host, port: space.port, protocol: space.protocol, realm: space.realm,
            authenticationMethod: space.authenticationMethod)
    }

    required init?(coder: NSCoder) { nil }

    override func isProxy() -> Bool { isOfProxy }
}

/// A challenge that knows its task.
final class TaskChallenge: URLAuthenticationChallenge, @unchecked Sendable {  // nothing in it changes
    /// What it was made from.
    private(set) var original: SessionChallenge?

    static func make(_ challenge: SessionChallenge) -> TaskChallenge {
        let made = TaskChallenge(
            protectionSpace: TaskSpace(challenge.protectionSpace), proposedCredential: nil,
            previousFailureCount: challenge.previousFailureCount,
            failureResponse: challenge.failureResponse?.httpResponse(for: nil), error: nil, sender: Unheard())
        made.original = challenge
        return made
    }
}

/// A session takes its decisions through completion handlers only.
private final class Unheard: NSObject, URLAuthenticationChallengeSender, Sendable {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}

extension URLSession.AuthChallengeDisposition {
    var own: SessionChallenge.Disposition {
        switch self {
        case .useCredential: .useCredential
        case .performDefaultHandling: .performDefaultHandling
        case .cancelAuthenticationChallenge: .cancelAuthenticationChallenge
        case .rejectProtectionSpace: .rejectProtectionSpace
        }
    }
}

extension SessionChallenge.Disposition {
    var foundation: URLSession.AuthChallengeDisposition {
        switch self {
        case .useCredential: .useCredential
        case .performDefaultHandling: .performDefaultHandling
        case .cancelAuthenticationChallenge: .cancelAuthenticationChallenge
        case .rejectProtectionSpace: .rejectProtectionSpace
        }
    }
}

extension SessionCredential {
    var foundation: URLCredential {
        switch kind {
        case .login(let user, let password): URLCredential(user: user, password: password, persistence: .none)
        case .certificate(let file, let key): ClientCertificate(certificateFile: file, keyFile: key)
        case .trust: .trustingServer
        }
    }
}

extension URLCredential {
    var own: SessionCredential {
        if let certificate = (self as? ClientCertificate)?.certificate { return certificate }
        if password == Self.trusting { return .trusting }
        return SessionCredential(user: user ?? "", password: password ?? "")
    }
}
#endif
