import PawlCore

/// The resume data that `NSURLSession` hands out for a download that was cancelled or failed.
///
/// It is read in every form that iOS has written, repaired where a version wrote it wrongly, and written in a form that
/// each version takes. It holds no content: the bytes are in a partial beside it.
///
/// ```swift
/// let data = try ResumeData(bytes)
/// let download = try downloader.add(data, partialFolder: "tmp")
/// download.resume()
/// ```
public struct ResumeData: Sendable, Hashable {
    var content: AppleResumeData

    /// A request of the session that made it.
    public struct Request: Sendable, Hashable {
        /// The address that was asked.
        public var url: String
        /// The method; downloads that can be continued are always `GET`.
        public var method: String
        /// Header fields by name.
        public var headers: [String: String]

        /// A request of this address.
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

    /// Reads resume data and repairs it.
    ///
    /// `system` is the version of iOS that made it, where that is known: it says whether a byte range in it can be
    /// trusted. Throws ``PawlError/Code/cannotResume`` with the reason when nothing can be resumed from it.
    public init(_ bytes: [UInt8], madeBy system: (major: Int, minor: Int)? = nil) throws(PawlError) {
        do throws(PropertyList.Fault) {
            content = try AppleResumeData(
                bytes,
                madeBy: system.map { AppleResumeData.System(major: $0.major, minor: $0.minor) }
            )
        } catch {
            throw PawlError(
                Failure(
                    .cannotResume,
                    "cannot resume from",
                    at: "the resume data",
                    because: error.words,
                    remedy: "start the download afresh"
                )
            )
        }
    }

    /// Resume data of `received` bytes in the file `partialName` that came as the answer to `request`.
    public init(_ request: Request, received: Int64, partialName: String) {
        content = AppleResumeData(request.content, received: max(0, received), partialName: partialName)
    }

    /// The resume data, as a binary property list.
    public var bytes: [UInt8] { content.bytes }

    /// What to keep when an error comes with `newer` or without any: the older is given up only for what can be read.
    public static func better(of newer: [UInt8]?, than older: [UInt8]?) -> [UInt8]? {
        AppleResumeData.better(of: newer, than: older)
    }
}

extension ResumeData {
    /// The address of the content.
    public var url: String { content.address }
    /// How many bytes were received.
    public var received: Int64 { content.received }
    /// The partial's name, without a folder: folders change with every launch of an app.
    public var partialName: String? { content.partialName }
    /// Apple's number of the form.
    public var version: Int { content.version }
    /// The request after redirects; `nil` when it is not in there.
    public var currentRequest: Request? { content.currentRequest.map { Request($0) } }
    /// The request as the app made it; `nil` when it is not in there.
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

    /// Says another address, and other headers where they are given, in the data and in both requests.
    public mutating func change(url: String, headers: [String: String]? = nil) {
        content.change(address: url, headers: headers)
    }
}
