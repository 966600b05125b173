package import PawlBase

/// What a lister asks for: a page, or the listing of a folder.
package struct PageRequest: Sendable {
    package var address: WebAddress
    /// `nil` for a page of HTTP.
    package var listing: FolderListingForm?
    /// Whether another request follows if this one fails: then it is not repeated.
    package var isTrial: Bool

    package init(_ address: WebAddress, listing: FolderListingForm? = nil, isTrial: Bool = false) {
        self.address = address
        self.listing = listing
        self.isTrial = isTrial
    }
}

/// What is known of a response before its body.
package struct PageHead: Hashable, Sendable {
    /// Redirects followed.
    package var address: WebAddress
    package var contentType: String?
    /// Whether it is that of a WebDAV server, whose body lists a collection (207).
    package var isMultistatus: Bool

    package init(address: WebAddress, contentType: String?, isMultistatus: Bool = false) {
        self.address = address
        self.contentType = contentType
        self.isMultistatus = isMultistatus
    }
}

/// A page that is being received.
package protocol PageTransfer: AnyObject, Sendable {
    /// `nil` until the response has begun.
    var head: PageHead? { get }
    /// How it ended; bytes may still wait to be taken.
    var end: Result<Void, Failure>? { get }
    /// The next bytes; `nil` while there are none.
    func take() -> [UInt8]?
    /// Nothing more is received.
    func cancel()
}

/// Requests pages: with the logins, the proxy and the retries of the download that the pages are for.
package protocol PageFetching: Sendable {
    /// Starts a request; `onChange` is called on any thread when the transfer has something new.
    func fetch(_ request: PageRequest, onChange: @escaping @Sendable () -> Void) throws(Failure) -> any PageTransfer
}
