import PawlCore

/// What the server's answer said of the content.
public struct DownloadResponse: Sendable, Hashable {
    /// The status code; 0 for FTP and SFTP, which have none.
    public var status: Int
    /// Content-Type as sent.
    public var contentType: String?
    /// Content-Disposition as sent.
    public var contentDisposition: String?
    /// The entity tag, in its quotes.
    public var entityTag: String?
    /// Last-Modified in seconds since 1970.
    public var lastModified: Int64?
    /// Content-Length, of this answer's body.
    public var contentLength: Int64?

    init(_ head: ResponseHead) {
        status = head.status
        contentType = head.contentType
        contentDisposition = head.contentDisposition
        entityTag = head.entityTag?.text
        lastModified = head.lastModified?.seconds
        contentLength = head.contentLength
    }
}

extension EntityTag {
    /// As it stands in a header field.
    var text: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }
}
