/// Hears what becomes of a manager's downloads, as NSURLSession's delegates do.
///
/// For each download the order is `didWrite` any number of times, then `didFinish`, then `didComplete`; one that fails
/// goes without `didFinish`. A download that was added with a closure
/// (``DownloadManager/add(_:completion:)``) calls that closure alone and none of these.
///
/// All calls come one after another on one thread of the manager, which waits for none of them; calls of `didWrite` that
/// came while the delegate was busy become one.
public protocol DownloadDelegate: AnyObject, Sendable {
    /// An answer was accepted; the content is continued from `offset`, 0 for a fresh start.
    ///
    /// `response` is `nil` where nothing was asked. It may come after a `didWrite`, and more than once.
    func download(_ id: Download.ID, didStart total: Int64?, at offset: Int64, response: DownloadResponse?)

    /// Bytes have come: `written` of `total`, which is `nil` while unknown.
    func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?)

    /// The file is in its place, and may be moved away from there before this returns.
    ///
    /// `response` is what the server said with the content; `nil` when the file was there already.
    func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?)

    /// It is over; `error` is `nil` when it finished.
    func download(_ id: Download.ID, didComplete error: PawlError?)
}

extension DownloadDelegate {
    /// Does nothing.
    public func download(
        _ id: Download.ID,
        didStart total: Int64?,
        at offset: Int64,
        response: DownloadResponse?
    ) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didWrite written: Int64, of total: Int64?) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didFinish location: String, response: DownloadResponse?) {}
    /// Does nothing.
    public func download(_ id: Download.ID, didComplete error: PawlError?) {}
}
