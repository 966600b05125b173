#if Queue
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

// What a session of downloads has not, with Foundation's types: so the compiler tells that, and not that the types differ.
extension DownloadSessionConfiguration {
    /// Responses are not cached.
    @available(*, unavailable, message: "responses are not cached") public var requestCachePolicy:
        URLRequest.CachePolicy
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Linux has no service types of networks.
    @available(*, unavailable, message: "Linux has no service types of networks") public var networkServiceType:
        URLRequest.NetworkServiceType
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Responses are not cached.
    @available(*, unavailable, message: "responses are not cached") public var urlCache: URLCache? {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Cookies are sent from `options.cookieFile`, and none are stored.
    @available(*, unavailable, message: "set options.cookieFile; no cookies are stored") public var httpCookieStorage:
        HTTPCookieStorage?
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Cookies are sent from `options.cookieFile`, and none are stored.
    @available(*, unavailable, message: "set options.cookieFile; no cookies are stored") public
        var httpCookieAcceptPolicy: HTTPCookie.AcceptPolicy
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }

    /// Credentials are those of `options`.
    @available(*, unavailable, message: "set options.user and options.password, or options.netrc") public
        var urlCredentialStorage: URLCredentialStorage?
    {
        get { preconditionFailure() }
        set { preconditionFailure() }
    }
}
#endif
