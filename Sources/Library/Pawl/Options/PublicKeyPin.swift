import PawlBase

/// The SHA-256 digest of a server's public key (SubjectPublicKeyInfo, RFC 7469 §2.4).
enum PublicKeyPin {
    /// The form that libcurl compares; `nil` if it is none.
    static func canonical(_ text: String) -> String? {
        guard text.hasPrefix("sha256//"), let digest = Base64.decode(text.utf8.dropFirst(8)), digest.count == 32 else {
            return nil
        }
        return "sha256//" + Base64.encode(digest)
    }
}
