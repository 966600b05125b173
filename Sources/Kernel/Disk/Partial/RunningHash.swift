import CCrypto
import CPawlSystem
package import PawlBase
import PawlJournal
import PawlSystem

/// Digests in progress, of several algorithms over the same bytes.
///
/// Used by one worker at a time.
@safe package final class RunningHash: @unchecked Sendable {  // Lent to one turn at a time.
    @unsafe private enum Part {
        case digest(OpaquePointer)
        case crc(kind: Int32, value: UInt64)
        case adler(Adler32)
        case tree(HashTree)
        /// Begins with the length, so that the bytes are kept until they are all there.
        case blob
        /// libcrypto does not have the algorithm.
        case missing
    }

    let algorithms: [HashAlgorithm]
    private var parts: [Part]
    /// The bytes of a Git blob, at most ``longestBlob``.
    private var blob: [UInt8] = []
    private let buffer: UnsafeMutableRawBufferPointer
    private(set) var position: Int64
    /// The size of the read buffer.
    static let room = 256 << 10
    /// Larger files of a repository have a digest of another kind (Git LFS).
    package static let longestBlob = 64 << 20

    /// Starts at offset `position` of a file.
    package init(_ algorithms: [HashAlgorithm], at position: Int64 = 0) {
        self.algorithms = algorithms
        self.position = position
        unsafe parts = algorithms.map { unsafe Self.begin($0) }
        unsafe buffer = .allocate(byteCount: Self.room, alignment: 64)
    }

    deinit {
        for index in unsafe parts.indices {
            if case .digest(let context) = unsafe parts[index] { unsafe EVP_MD_CTX_free(context) }
        }
        unsafe buffer.deallocate()
    }

    private static func begin(_ algorithm: HashAlgorithm) -> Part {
        let method: OpaquePointer?
        switch algorithm {
        case .sha256: unsafe method = EVP_sha256()
        case .sha512: unsafe method = EVP_sha512()
        case .sha384: unsafe method = EVP_sha384()
        case .sha224: unsafe method = EVP_sha224()
        case .blake2b: unsafe method = EVP_blake2b512()
        case .blake2s: unsafe method = EVP_blake2s256()
        case .sha3256: unsafe method = EVP_sha3_256()
        case .sha3512: unsafe method = EVP_sha3_512()
        case .sha3384: unsafe method = EVP_sha3_384()
        case .sha3224: unsafe method = EVP_sha3_224()
        case .sha512256: unsafe method = EVP_sha512_256()
        case .sm3:
            // Some builds of libcrypto do not have it.
            unsafe method = EVP_get_digestbyname("SM3")
            if unsafe method == nil { return unsafe .missing }
        case .sha1: unsafe method = EVP_sha1()
        case .md5: unsafe method = EVP_md5()
        case .crc32, .crc32c, .crc64nvme: return unsafe .crc(kind: crcKind(algorithm) ?? 0, value: 0)
        case .adler32: return unsafe .adler(Adler32())
        case .gitBlob: return unsafe .blob
        case .sha256Tree: return unsafe .tree(HashTree())
        }
        guard let context = unsafe EVP_MD_CTX_new() else { preconditionFailure("out of memory for a digest") }
        let began = unsafe EVP_DigestInit_ex(context, method, nil)
        precondition(began == 1, "libcrypto does not have \(algorithm.rawValue)")
        return unsafe .digest(context)
    }

    /// Begins anew at another offset; there are CRCs only.
    func restart(at position: Int64) {
        self.position = position
        for index in unsafe parts.indices {
            guard case .crc(let kind, _) = unsafe parts[index] else { preconditionFailure("a digest is used once") }
            unsafe parts[index] = .crc(kind: kind, value: 0)
        }
    }

    /// The number of a CRC in C; `nil` for digests.
    static func crcKind(_ algorithm: HashAlgorithm) -> Int32? {
        switch algorithm {
        case .sha256, .sha512, .sha384, .sha224, .blake2b, .sha3256, .sha3512, .sha3384, .sha3224, .sha512256, .blake2s,
            .sm3, .sha1, .gitBlob, .md5, .adler32, .sha256Tree:
            nil
        case .crc32: Int32(PAWL_CRC32)
        case .crc32c: Int32(PAWL_CRC32C)
        case .crc64nvme: Int32(PAWL_CRC64NVME)
        }
    }

    /// The CRCs so far.
    package var crcValues: [UInt64] {
        unsafe parts.indices.map { index in
            guard case .crc(_, let value) = unsafe parts[index] else { return 0 }
            return value
        }
    }

    /// A CRC as bytes, the most significant one first.
    static func checksum(_ algorithm: HashAlgorithm, _ value: UInt64) -> Checksum {
        let digest = (0..<algorithm.length).map { place in
            UInt8(truncatingIfNeeded: value >> UInt64(8 * (algorithm.length - 1 - place)))
        }
        return Checksum(algorithm: algorithm, digest: digest)
    }

    /// Hashes the file's bytes from the current position up to `end`, at most one buffer.
    func feed(_ file: OpenFile, path: String, upTo end: Int64) throws(Failure) {
        let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(end - position)])
        let count: Int
        do throws(SystemError) { count = try unsafe file.read(into: part, at: position) } catch {
            throw Failure.system(.inputOutput, "cannot read", at: path, error)
        }
        guard count == part.count else { throw FilePartial.cutShort(path) }
        unsafe feed(UnsafeRawBufferPointer(part))
    }

    package func feed(_ bytes: UnsafeRawBufferPointer) {
        for index in unsafe parts.indices {
            switch unsafe parts[index] {
            case .missing: break
            case .blob: unsafe blob.append(contentsOf: bytes.prefix(max(0, Self.longestBlob + 1 - blob.count)))
            case .digest(let context): unsafe EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
            case .crc(let kind, let value):
                guard let start = bytes.baseAddress else { continue }
                unsafe parts[index] = .crc(kind: kind, value: pawl_crc(kind, value, start, bytes.count))
            case .adler(var sum):
                unsafe sum.add(bytes)
                unsafe parts[index] = .adler(sum)
            case .tree(let tree): unsafe tree.feed(bytes)
            }
        }
        position += Int64(bytes.count)
    }

    /// Completes a piece: with zeros, or a tree with leaves of zeros.
    func pad(_ count: Int64) {
        guard count > 0 else { return }
        if algorithms == [.sha256Tree], case .tree(let tree) = unsafe parts[0] { return tree.pad(count) }
        let zeros = [UInt8](repeating: 0, count: Int(min(count, Int64(Self.room))))
        var left = count
        while left > 0 {
            let part = Int(min(left, Int64(zeros.count)))
            unsafe zeros.withUnsafeBytes { unsafe feed(UnsafeRawBufferPointer(rebasing: $0[..<part])) }
            left -= Int64(part)
        }
    }

    /// The digests, in the order of the algorithms; nothing is fed afterwards.
    package func finish() -> [Checksum] {
        algorithms.indices.map { index in
            let algorithm = algorithms[index]
            switch unsafe parts[index] {
            case .digest(let context):
                let digest = unsafe [UInt8](unsafeUninitializedCapacity: algorithm.length) { digest, count in
                    var length: UInt32 = 0
                    unsafe EVP_DigestFinal_ex(context, digest.baseAddress, &length)
                    count = Int(length)
                }
                return Checksum(algorithm: algorithm, digest: digest)
            // Equal to no digest.
            case .missing: return Checksum(algorithm: algorithm, digest: [])
            case .crc(_, let value): return Self.checksum(algorithm, value)
            case .adler(let sum): return Self.checksum(algorithm, UInt64(sum.value))
            case .blob: return Checksum(algorithm: algorithm, digest: blobDigest)
            case .tree(let tree): return Checksum(algorithm: algorithm, digest: tree.finish())
            }
        }
    }
}

extension RunningHash {
    /// Empty, and so equal to no digest, for content that is too long.
    private var blobDigest: [UInt8] {
        guard blob.count <= Self.longestBlob, position == Int64(blob.count) else { return [] }
        let hash = RunningHash([.sha1])
        let header = Array("blob \(blob.count)".utf8) + [0]
        unsafe header.withUnsafeBytes { unsafe hash.feed($0) }
        unsafe blob.withUnsafeBytes { unsafe hash.feed($0) }
        return hash.finish()[0].digest
    }
}

extension RunningHash: ContentHasher {}
