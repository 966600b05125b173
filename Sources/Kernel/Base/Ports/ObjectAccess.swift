/// What a feature knows of the addresses of its scheme, which name no host (`LocatedScheme`).
package protocol ObjectLocating: Hashable, Sendable {
    /// The URL by which what the address names is requested.
    func location(of address: WebAddress) -> WebAddress
    /// The file with the certificate authorities of the host, unless the options name one.
    var authorityFile: String? { get }
    /// Whether the user named the host, which may then be private.
    var hasChosenHost: Bool { get }
}

/// Any of them, compared with its type.
package struct ObjectAccess: Hashable, Sendable {
    package let locating: any ObjectLocating

    package init(_ locating: some ObjectLocating) { self.locating = locating }

    package static func == (left: ObjectAccess, right: ObjectAccess) -> Bool {
        AnyHashable(left.locating) == AnyHashable(right.locating)
    }

    package func hash(into hasher: inout Hasher) { AnyHashable(locating).hash(into: &hasher) }
}

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
