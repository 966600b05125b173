/// What a transport sent or received, for a user who looks at the protocol.
///
/// Every line is free of secrets and control characters.
package enum TransferTrace: Hashable, Sendable {
    /// The request line and the header section; the address itself may hold secrets.
    case request([String], to: WebAddress)
    /// The status line and the header section.
    case response([String])
    /// Whether the response's body is used.
    case verdict(isAccepted: Bool, status: Int)
    /// A host was seen to allow no more connections than these, in this run or an earlier one.
    case hostLimit(HostNote, of: String)
    /// The end of a transfer that failed.
    case failed(String)
}
