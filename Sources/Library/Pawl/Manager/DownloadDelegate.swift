#if Queue
/// Receives events of a manager's downloads, as NSURLSession's delegates do.
///
/// For each download the order is `didWrite` any number of times, then `didFinish`, then `didComplete`; a
/// failed one skips `didFinish`. A download added with a closure (``DownloadManager/add(_:completion:)``)
/// calls only that closure.
///
/// All calls are made one at a time on one thread of the manager, which does not wait for them; calls of
/// `didWrite` made while the delegate was busy are merged.
public protocol DownloadDelegate: AnyObject, Sendable {
    /// A response was accepted; the content is resumed at `offset`, 0 for a fresh start.
    ///
    /// `response` is `nil` where no request was made. It may come after a `didWrite`, and more than once.
    func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?)

    /// Data was written: `written` of `total` bytes, which is `nil` while unknown.
    func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?)

    /// The file is complete; it may be moved before this returns.
    ///
    /// `response` is the server's response for the content; `nil` if the file existed already.
    func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?)

    /// The download ended; `error` is `nil` if it finished.
    func download(_ id: Download.ID, didComplete error: PawlError?)
}

extension DownloadDelegate {
    /// Does nothing.
    public func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didComplete error: PawlError?) {}
}
#endif
