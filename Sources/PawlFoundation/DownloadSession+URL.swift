public import Foundation
public import Pawl
public import PawlSession

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The key of resume data in an error's `userInfo`, which Foundation has on Apple's systems only.
public let NSURLSessionDownloadTaskResumeData = "NSURLSessionDownloadTaskResumeData"

extension SessionRequest {
    /// A request of this address.
    public init(url: URL) { self.init(url: url.text) }

    /// The address and the header fields of a request; what else it says is the session's to say.
    public init(_ request: URLRequest) {
        self.init(url: request.url?.text ?? "")
        allHTTPHeaderFields = request.allHTTPHeaderFields ?? [:]
    }
}

extension DownloadSession {
    /// Makes a task; nothing runs before `resume()`.
    public func downloadTask(with url: URL) -> DownloadTask { downloadTask(with: SessionRequest(url: url)) }

    /// Makes a task; nothing runs before `resume()`.
    public func downloadTask(with request: URLRequest) -> DownloadTask {
        downloadTask(with: SessionRequest(request))
    }

    /// Makes a task that calls the closure at its end, and the delegate never.
    public func downloadTask(
        with url: URL,
        completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(url: url)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }

    /// Makes a task that calls the closure at its end, and the delegate never.
    public func downloadTask(
        with request: URLRequest,
        completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(with: SessionRequest(request)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }

    /// Makes a task that goes on from what another one left.
    public func downloadTask(withResumeData resumeData: Data) -> DownloadTask {
        downloadTask(withResumeData: [UInt8](resumeData))
    }

    /// Makes a task that goes on from what another one left, and calls the closure at its end.
    public func downloadTask(
        withResumeData resumeData: Data,
        completionHandler: @escaping @Sendable (URL?, SessionResponse?, PawlError?) -> Void
    ) -> DownloadTask {
        downloadTask(withResumeData: [UInt8](resumeData)) { path, response, error in
            completionHandler(path.map { URL(fileURLWithPath: $0) }, response, error)
        }
    }
}

extension DownloadTask {
    /// Ends it, frees its place, and hands out what a new task goes on from; `nil` when nothing can be continued.
    public func cancel(byProducingResumeData completionHandler: @escaping @Sendable (Data?) -> Void) {
        cancel { (bytes: [UInt8]?) in completionHandler(bytes.map { Data($0) }) }
    }

    /// Ends it, frees its place, and gives what a new task goes on from; `nil` when nothing can be continued.
    public func cancelByProducingResumeData() async -> Data? {
        let bytes: [UInt8]? = await cancelByProducingResumeData()
        return bytes.map { Data($0) }
    }
}

extension PawlError: CustomNSError {
    /// Of a failed task, what a new one goes on from, where code for `NSURLSession` looks for it.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: description]
        info[NSURLSessionDownloadTaskResumeData] = downloadTaskResumeData.map { Data($0) }
        return info
    }

    /// The number of the kind of failure.
    public var errorCode: Int { Int(code.rawValue) }
}

/// A `DownloadSessionDelegate` that is told of files by `URL`, as `URLSessionDownloadDelegate` is.
public protocol URLDownloadSessionDelegate: DownloadSessionDelegate {
    /// The file is whole.
    ///
    /// It may be moved away before this returns; otherwise it is removed.
    func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: URL
    )
}

extension URLDownloadSessionDelegate {
    /// Tells of the file by its `URL`.
    public func urlSession(
        _ session: DownloadSession,
        downloadTask: DownloadTask,
        didFinishDownloadingTo location: String
    ) {
        urlSession(
            session,
            downloadTask: downloadTask,
            didFinishDownloadingTo: URL(fileURLWithPath: location)
        )
    }
}
