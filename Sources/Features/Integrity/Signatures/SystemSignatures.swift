import CCrypto
import Glibc
package import PawlBase
import PawlDisk
package import PawlJournal
import PawlSystem

/// Checks signatures with gpgv, and with libcrypto's Ed25519 for minisign.
package final class SystemSignatures: Sendable {
    private let workers = WorkQueue("pawl-disk", .onDemand, stackSize: 256 << 10)

    package init() {}

    /// Throws when a key cannot be read, or the program that checks with it is missing: code 28 names the option.
    package static func check(_ keys: SigningKeys) throws(Failure) {
        if let keyring = keys.keyring {
            _ = try self.keyring(keyring)
            guard GnuPG.isInstalled else {
                throw Failure(
                    refusing: .openPGPKeyring, keyring,
                    because: LocalizableMessage(
                        "gpgv-missing", "the program gpgv, which checks OpenPGP signatures, is not installed"))
            }
        }
        if let key = keys.minisign { _ = try minisignKey(key) }
    }

    /// Calls `completion`, on any thread, with the text that a good signature by one of the keys covers, `nil`
    /// without one.
    ///
    /// `signature` is detached, or `nil` for a clear-signed text, of which only the signed part is returned.
    package func verify(
        _ text: [UInt8], signature: [UInt8]?, keys: SigningKeys, completion: @escaping @Sendable ([UInt8]?) -> Void
    ) { workers.submit { completion(Self.signed(text, signature, keys)) } }

    private static func signed(_ text: [UInt8], _ signature: [UInt8]?, _ keys: SigningKeys) -> [UInt8]? {
        do throws(Failure) {
            if let signature, let key = keys.minisign, let envelope = MinisignSignature(signature) {
                return MinisignCheck.isGood(envelope, of: text, by: try minisignKey(key)) ? text : nil
            }
            guard let keyring = keys.keyring else { return nil }
            return try GnuPG.signed(text, signature, keyring: try Self.keyring(keyring))
        } catch { return nil }
    }

    /// The binary keyring of the file.
    private static func keyring(_ path: String) throws(Failure) -> [UInt8] {
        let bytes = try contents(of: path, atMost: OpenPGPArmor.longest, for: .openPGPKeyring)
        let isArmored = bytes.starts(with: "-----BEGIN".utf8)
        guard let keys = isArmored ? OpenPGPArmor.keys(bytes) : isKeyring(bytes) ? bytes : nil else {
            throw Failure(
                refusing: .openPGPKeyring, path,
                because: LocalizableMessage("keyring-without-key", "it contains no OpenPGP public key"))
        }
        return keys
    }

    /// Packets (RFC 9580 §4.2), or the keybox of GnuPG 2.
    private static func isKeyring(_ bytes: [UInt8]) -> Bool {
        bytes.first.map { $0 & 0x80 != 0 } ?? false || bytes.dropFirst(8).starts(with: "KBXf".utf8)
    }

    private static func minisignKey(_ text: String) throws(Failure) -> MinisignKey {
        if let key = MinisignKey(text.utf8) { return key }
        let bytes = try contents(of: text, atMost: MinisignSignature.longest, for: .minisignKey)
        guard let key = MinisignKey(bytes) else {
            throw Failure(
                refusing: .minisignKey, text,
                because: LocalizableMessage("no-minisign-key", "it is neither a key of minisign nor a file with one"))
        }
        return key
    }

    private static func contents(of path: String, atMost longest: Int, for id: OptionID) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            let file = try OpenFile(at: path)
            let status = try file.status()
            guard status.isRegular else { throw SystemError(number: status.isSpecial ? EINVAL : EISDIR) }
            guard status.length <= Int64(longest) else { throw SystemError(number: EFBIG) }
            return try file.bytes(at: 0, count: Int(status.length))
        } catch {
            throw Failure(
                refusing: id, path, because: LocalizableMessage("key-unreadable", "cannot read it: \(error.text)"))
        }
    }
}

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
