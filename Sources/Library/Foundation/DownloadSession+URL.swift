#if Queue
public import Foundation
public import Pawl
import PawlBase
import PawlCore
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of resume data in an error's `userInfo`, which Foundation defines on Apple's systems only.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

extension SessionRequest {
    /// Creates a request for this URL.
    public init(url: URL) { self.init(url: url.text) }

    /// Creates a request with the URL, method, body, header fields and timeout of a `URLRequest`.
    ///
    /// A timeout of 60 seconds, the default of `URLRequest`, means that of the session. The cache policy and
    /// the network service type have no effect.
    public init(_ request: URLRequest) {
        self.init(url: request.url?.text ?? "")
        allHTTPHeaderFields = request.allHTTPHeaderFields ?? [:]
        httpMethod = request.httpMethod
        httpBody = request.httpBody.map { Array($0) }
        hasBodyStream = request.httpBodyStream != nil
        if request.timeoutInterval != 60 { timeoutInterval = request.timeoutInterval }
    }
}

extension DownloadSession {
    /// Creates a task; nothing runs before `resume()`.
    public func downloadTask(with url: URL) -> DownloadTask { downloadTask(with: SessionRequest(url: url)) }

    /// Creates a task; nothing runs before `resume()`.
    public func downloadTask(with request: URLRequest) -> DownloadTask { downloadTask(with: SessionRequest(request)) }

    /// Creates a task for a stream (HLS or DASH); nothing runs before `resume()`.
    public func makeAssetDownloadTask(with url: URL, options: StreamOptions = StreamOptions()) -> DownloadTask {
        makeAssetDownloadTask(with: SessionRequest(url: url), options: options)
    }

    /// Creates a task for a stream, with header fields, which are sent to the playlist's origin only.
    public func makeAssetDownloadTask(
        with request: URLRequest, options: StreamOptions = StreamOptions()
    ) -> DownloadTask { makeAssetDownloadTask(with: SessionRequest(request), options: options) }

    /// Creates a task that calls the closure at its end instead of the delegate.
    public func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(url: url)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response?.httpResponse(for: url), error?.urlError)
        }
    }

    /// The same with the session's own type of responses.
    @_disfavoredOverload public func downloadTask(
        with url: URL, completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(url: url)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }

    /// Creates a task that calls the closure at its end instead of the delegate.
    public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(request)) { path, response, error in
            completionHandler(
                path.map { URL(fileURLWithPath: $0) }, response?.httpResponse(for: request.url), error?.urlError)
        }
    }

    /// The same with the session's own type of responses.
    @_disfavoredOverload public func downloadTask(
        with request: URLRequest, completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(request)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }

    /// Creates a task from resume data.
    public func downloadTask(withResumeData resumeData: Data) -> DownloadTask {
        downloadTask(withResumeData: [UInt8](resumeData))
    }

    /// Creates a task from resume data that calls the closure at its end.
    public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, URLResponse?, (any Error)?) -> Void
    ) -> DownloadTask {
        downloadTask(withResumeData: [UInt8](resumeData)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response?.httpResponse(for: nil), error?.urlError)
        }
    }

    /// The same with the session's own type of responses.
    @_disfavoredOverload public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(withResumeData: [UInt8](resumeData)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }
}

extension DownloadTask {
    /// The further files of a stream, such as sound that is apart and subtitles, when its first file is reported.
    public var otherLocations: [URL] { otherPaths.map { URL(fileURLWithPath: $0) } }

    /// Cancels the task, frees its slot, and produces resume data; `nil` when nothing can be resumed.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancel { (bytes: [UInt8]?) in completionHandler(bytes.map { Data($0) }) }
    }

    /// Cancels the task, frees its slot, and returns resume data; `nil` when nothing can be resumed.
    public func cancelByProducingResumeData() async -> Data? {
        let bytes: [UInt8]? = await cancelByProducingResumeData()
        return bytes.map { Data($0) }
    }
}

extension PawlError: CustomNSError {
    /// The resume data and the URL of a failed task or download under the keys that code for `NSURLSession` expects.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        info[NSURLSessionDownloadTaskResumeData] = downloadTaskResumeData.map { Data($0) }
        info[NSURLErrorFailingURLErrorKey] = failingURL.flatMap { URL(string: $0) }
        return info
    }

    /// `NSURLErrorDomain`.
    public static var errorDomain: String { NSURLErrorDomain }

    /// The code of `NSURLErrorDomain` that comes closest; a cancelled or paused download has −999.
    ///
    /// ``Pawl/PawlError/code`` tells more.
    public var errorCode: Int {
        let code: URLError.Code? = failure.fault.flatMap { Self.transferErrors[$0] } ?? Self.urlErrors[code]
        return (Self.causes[cause?.id ?? ""] ?? code ?? .unknown).rawValue
    }

    /// The error as Foundation's type, with the same code.
    public var urlError: URLError {
        var info = errorUserInfo
        info[NSUnderlyingErrorKey] = self
        return URLError(URLError.Code(rawValue: errorCode) ?? .unknown, userInfo: info)
    }

    /// Causes that `URLError` distinguishes.
    private static let causes: [String: URLError.Code] = [
        "no-network": .notConnectedToInternet, "client-certificate-required": .clientCertificateRequired,
        "client-certificate-rejected": .clientCertificateRejected, "redirect-not-http": .unsupportedURL,
    ]

    private static let transferErrors: [TransferFault.Kind: URLError.Code] = [
        .nameResolution: .cannotFindHost, .unreachable: .cannotConnectToHost, .connectionRefused: .cannotConnectToHost,
        .connectTimeout: .timedOut, .connectionLost: .networkConnectionLost, .truncated: .networkConnectionLost,
        .tls: .serverCertificateUntrusted, .proxy: .cannotConnectToHost, .notFound: .fileDoesNotExist,
        .denied: .userAuthenticationRequired, .malformed: .badServerResponse,
    ]

    private static let urlErrors: [Code: URLError.Code] = [
        .timeout: .timedOut, .notFound: .fileDoesNotExist, .tooSlow: .timedOut, .network: .networkConnectionLost,
        .unfinished: .cancelled, .cannotResume: .cannotOpenFile, .diskFull: .cannotWriteToFile,
        .alreadyDownloading: .cannotCreateFile, .fileExists: .cannotCreateFile, .renameFailed: .cannotMoveFile,
        .cannotOpen: .cannotOpenFile, .cannotCreate: .cannotCreateFile, .inputOutput: .cannotWriteToFile,
        .cannotMakeFolder: .cannotCreateFile, .nameResolution: .cannotFindHost, .badResponse: .badServerResponse,
        .tooManyRedirects: .httpTooManyRedirects, .authorization: .userAuthenticationRequired,
        .badOption: .unsupportedURL, .overloaded: .resourceUnavailable, .checksumMismatch: .cannotDecodeContentData,
        .insecure: .serverCertificateUntrusted, .newerJournal: .cannotOpenFile, .tooLarge: .dataLengthExceedsMaximum,
    ]
}

extension URLError {
    /// The error of Pawl that this one stands for.
    public var pawlError: PawlError? { (self as NSError).userInfo[NSUnderlyingErrorKey] as? PawlError }

    /// The resume data of a failed or cancelled task.
    public var downloadTaskResumeData: Data? { userInfo[NSURLSessionDownloadTaskResumeData] as? Data }
}

extension PawlError.Code {
    /// A cancelled download: ``unfinished`` under the name of `URLError.Code`.
    public static var cancelled: Self { .unfinished }
    /// ``timeout`` under the name of `URLError.Code`.
    public static var timedOut: Self { .timeout }
    /// ``network`` under the name of `URLError.Code`.
    public static var networkConnectionLost: Self { .network }
    /// ``network`` under the name of `URLError.Code`.
    public static var notConnectedToInternet: Self { .network }
    /// ``network`` under the name of `URLError.Code`.
    public static var cannotConnectToHost: Self { .network }
    /// ``nameResolution`` under the name of `URLError.Code`.
    public static var cannotFindHost: Self { .nameResolution }
    /// ``badResponse`` under the name of `URLError.Code`.
    public static var badServerResponse: Self { .badResponse }
    /// ``tooManyRedirects`` under the name of `URLError.Code`.
    public static var httpTooManyRedirects: Self { .tooManyRedirects }
    /// ``authorization`` under the name of `URLError.Code`.
    public static var userAuthenticationRequired: Self { .authorization }
    /// ``insecure`` under the name of `URLError.Code`.
    public static var serverCertificateUntrusted: Self { .insecure }
    /// ``badOption`` under the name of `URLError.Code`.
    public static var unsupportedURL: Self { .badOption }
}
#endif
