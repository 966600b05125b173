import CCrypto

/// AES-128-CBC with the padding of PKCS #7 (RFC 8216 §5.2).
package enum SegmentCipher {
    /// The plain bytes; `nil` if the padding is wrong: another key, or damaged bytes.
    package static func decrypt(_ bytes: [UInt8], key: [UInt8], vector: [UInt8]) -> [UInt8]? {
        guard !bytes.isEmpty, bytes.count.isMultiple(of: 16), bytes.count <= Int32.max, key.count == 16,
            vector.count == 16
        else { return nil }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory for a cipher") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let began = unsafe EVP_DecryptInit_ex(context, EVP_aes_128_cbc(), nil, key, vector)
        precondition(began == 1, "libcrypto does not have AES-128-CBC")
        var isWhole = false
        let plain = unsafe [UInt8](unsafeUninitializedCapacity: bytes.count + 16) { buffer, count in
            var (length, last): (Int32, Int32) = (0, 0)
            guard let start = buffer.baseAddress,
                unsafe EVP_DecryptUpdate(context, start, &length, bytes, Int32(bytes.count)) == 1,
                unsafe EVP_DecryptFinal_ex(context, start + Int(length), &last) == 1
            else { return }
            count = Int(length) + Int(last)
            isWhole = true
        }
        return isWhole ? plain : nil
    }
}

/// The same for bytes that come in pieces.
@safe package final class SegmentDecryptor {
    private let context: OpaquePointer

    /// `nil` unless key and vector have 16 bytes.
    package init?(key: [UInt8], vector: [UInt8]) {
        guard key.count == 16, vector.count == 16 else { return nil }
        guard let made = unsafe EVP_CIPHER_CTX_new() else { preconditionFailure("out of memory for a cipher") }
        unsafe context = made
        let began = unsafe EVP_DecryptInit_ex(made, EVP_aes_128_cbc(), nil, key, vector)
        precondition(began == 1, "libcrypto does not have AES-128-CBC")
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// The plain bytes of what is whole so far; `nil` if they cannot be decrypted.
    package func update(_ bytes: [UInt8]) -> [UInt8]? {
        guard let length = Int32(exactly: bytes.count) else { return nil }
        return unsafe output(room: bytes.count + 16) { start, count in
            unsafe EVP_DecryptUpdate(context, start, &count, bytes, length)
        }
    }

    /// The last bytes, without their padding; `nil` if that is wrong.
    package func finish() -> [UInt8]? {
        unsafe output(room: 16) { start, count in unsafe EVP_DecryptFinal_ex(context, start, &count) }
    }

    private func output(room: Int, _ body: (UnsafeMutablePointer<UInt8>, inout Int32) -> Int32) -> [UInt8]? {
        var isWhole = false
        let plain = unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            var length: Int32 = 0
            guard let start = buffer.baseAddress, unsafe body(start, &length) == 1 else { return }
            (count, isWhole) = (Int(length), true)
        }
        return isWhole ? plain : nil
    }
}
