/// Checks detached signatures.
package protocol SignatureVerifier: AnyObject, Sendable {
    /// Calls `completion`, on any thread, with the text that a good signature by one of the keys covers, `nil`
    /// without one.
    ///
    /// `signature` is detached, or `nil` for a clear-signed text, of which only the signed part is returned.
    func verify(
        _ text: [UInt8], signature: [UInt8]?, keys: SigningKeys, completion: @escaping @Sendable ([UInt8]?) -> Void)
}
