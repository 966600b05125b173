/// Prepares a transport's requests for located addresses of one scheme: signs them, say, and reads why one was refused.
///
/// On the transport's thread.
package protocol RequestPreparing: AnyObject {
    /// Prepares the request for `address` and starts it, with a sink that may start another one in its place.
    func begin(
        _ request: TransferRequest, for address: WebAddress, as id: TransferID, sink: any TransferSink,
        start: @escaping (TransferRequest, TransferID, any TransferSink) -> Void)
}

/// They are made for each transport.
package typealias RequestPreparers = [LocatedScheme: @Sendable (any Clock) -> any RequestPreparing]
