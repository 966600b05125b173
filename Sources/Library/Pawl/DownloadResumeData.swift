#if Features
import PawlBase
import PawlResumeData

/// The resume data that `NSURLSession` produces for a cancelled or failed download.
///
/// It is read in every format that iOS has written, repaired where a version wrote it wrongly, and written in
/// a format that every version reads. It holds no content: the bytes are in a separate partial file.
///
/// ```swift
/// let data = try DownloadResumeData(bytes)
/// let download = try downloader.add(data, partialFolder: "tmp")
/// download.resume()
/// ```
public struct DownloadResumeData: Sendable, Hashable {
    var content: AppleResumeData

    /// A request of the session that produced the data.
    public struct Request: Sendable, Hashable {
        /// The requested URL.
        public var url: String
        /// The method; resumable downloads always use `GET`.
        public var method: String
        /// Header fields by name.
        public var headers: [String: String]

        /// Creates a request for this URL.
        public init(url: String, method: String = "GET", headers: [String: String] = [:]) {
            self.url = url
            self.method = method
            self.headers = headers
        }

        init(_ request: AppleRequest) {
            self.init(url: request.address, method: request.method, headers: request.headers)
        }

        var content: AppleRequest { AppleRequest(address: url, method: method, headers: headers) }
    }

    /// Parses resume data and repairs it.
    ///
    /// `system` is the version of iOS that produced it, if known: it determines whether a byte range in it
    /// can be trusted. Throws ``PawlError/Code/cannotResume`` with the reason when it cannot be used.
    public init(_ bytes: [UInt8], madeBy system: (major: Int, minor: Int)? = nil) throws(PawlError) {
        do throws(PropertyList.Fault) {
            content = try AppleResumeData(
                bytes, madeBy: system.map { AppleResumeData.System(major: $0.major, minor: $0.minor) })
        } catch {
            throw PawlError(
                Failure(
                    .cannotResume, "cannot resume from", at: "the resume data", because: error.words,
                    remedy: "start the download over"))
        }
    }

    /// Creates resume data for `received` bytes of the response to `request` in the file `partialName`.
    public init(_ request: Request, received: Int64, partialName: String) {
        content = AppleResumeData(request.content, received: max(0, received), partialName: partialName)
    }

    /// The data as a binary property list.
    public var bytes: [UInt8] { content.bytes }

    /// The resume data to keep when an error has `newer` or none: `newer` replaces the older only if it can
    /// be parsed.
    public static func better(of newer: [UInt8]?, than older: [UInt8]?) -> [UInt8]? {
        AppleResumeData.better(of: newer, than: older)
    }
}

extension DownloadResumeData {
    /// The URL of the content.
    public var url: String { content.address }
    /// How many bytes were received.
    public var received: Int64 { content.received }
    /// The partial file's name, without a folder: an app's folders change with every launch.
    public var partialName: String? { content.partialName }
    /// Apple's version number of the format.
    public var version: Int { content.version }
    /// The request after redirects; `nil` if it is missing.
    public var currentRequest: Request? { content.currentRequest.map { Request($0) } }
    /// The app's request; `nil` if it is missing.
    public var originalRequest: Request? { content.originalRequest.map { Request($0) } }

    /// The server's ETag field.
    public var entityTag: String? {
        get { content.entityTag }
        set { content.entityTag = newValue }
    }

    /// The server's Last-Modified field.
    public var serverDate: String? {
        get { content.serverDate }
        set { content.serverDate = newValue }
    }

    /// Replaces the URL, and the headers if given, in the data and in both requests.
    public mutating func change(url: String, headers: [String: String]? = nil) {
        content.change(address: url, headers: headers)
    }
}
#endif
