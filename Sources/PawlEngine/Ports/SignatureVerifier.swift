import PawlCore

/// The keys that a caller trusts to sign sums files.
package struct SigningKeys: Hashable, Sendable {
    /// A keyring file of OpenPGP keys, binary or armored.
    package var keyring: String?
    /// Keys of minisign: each the base64 of one, or the path of its file.
    package var minisign: String?

    package init() {}
    package init(keyring: String?, minisign: String?) {
        self.keyring = keyring
        self.minisign = minisign
    }

    package var isEmpty: Bool { keyring == nil && minisign == nil }
}

/// Checks detached signatures.
package protocol SignatureVerifier: AnyObject, Sendable {
    /// Calls `completion`, on any thread, with the text that a good signature by one of the keys covers, `nil`
    /// without one.
    ///
    /// `signature` is detached, or `nil` for a clear-signed text, of which only the signed part is returned.
    func verify(
        _ text: [UInt8], signature: [UInt8]?, keys: SigningKeys, completion: @escaping @Sendable ([UInt8]?) -> Void)
}
