import CCrypto

/// Ed25519 as minisign uses it.
enum MinisignCheck {
    /// Whether both signatures of the envelope are the key's: over the text, and over the first one with its comment.
    static func isGood(_ envelope: MinisignSignature, of text: [UInt8], by key: MinisignKey) -> Bool {
        guard envelope.number == key.number else { return false }
        let signed = envelope.isPrehashed ? blake2b(text) : text
        return verify(envelope.signature, of: signed, key: key.key)
            && verify(envelope.globalSignature, of: envelope.globallySigned, key: key.key)
    }

    private static func verify(_ signature: [UInt8], of text: [UInt8], key: [UInt8]) -> Bool {
        guard let key = unsafe EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nil, key, key.count) else { return false }
        defer { unsafe EVP_PKEY_free(key) }
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
    }

    private static func blake2b(_ text: [UInt8]) -> [UInt8] {
        unsafe [UInt8](unsafeUninitializedCapacity: 64) { digest, count in
            var length: UInt32 = 0
            let isDone = unsafe EVP_Digest(text, text.count, digest.baseAddress, &length, EVP_blake2b512(), nil)
            count = isDone == 1 ? Int(length) : 0
        }
    }
}
