import CPawlSystem
import CTLS
import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// The certificate authorities that connections trust.
///
/// Those of the system are in a folder by the digests of their names, where a chain needs one file, and in a bundle, which takes
/// 50 ms to read. The bundle is added to the store when a chain has no issuer there: not every system has such a folder.
@safe final class TrustStore: Sendable {
    nonisolated(unsafe) let raw: UnsafeMutablePointer<pawl_tls_trust>  // a store has locks of its own

    /// Those of the bundle, where one is needed.
    init(bundle: String?) throws(TransferFault) {
        guard let store = unsafe X509_STORE_new() else { throw .outOfMemory }
        unsafe raw = .allocate(capacity: 1)
        unsafe raw.initialize(
            to: pawl_tls_trust(store: store, bundle: bundle.flatMap { unsafe strdup($0) }, is_whole: 0))
    }

    convenience init(folder: String, bundle: String?) throws(TransferFault) {
        try self.init(bundle: bundle)
        _ = unsafe X509_STORE_load_path(raw.pointee.store, folder)
    }

    /// Only those of the file.
    convenience init(file: String) throws(TransferFault) {
        try self.init(bundle: nil)
        guard unsafe X509_STORE_load_file(raw.pointee.store, file) == 1 else { throw .unusableAuthorities }
    }

    deinit {
        unsafe X509_STORE_free(raw.pointee.store)
        unsafe free(raw.pointee.bundle)
        unsafe raw.deallocate()
    }

    /// Whether the bundle has been read.
    var isWhole: Bool { unsafe raw.pointee.is_whole != 0 }

    private static func system() throws(TransferFault) -> TrustStore {
        // OpenSSL's own folder is often a link to this one.
        let usual = "/etc/ssl/certs"
        let own = unsafe X509_get_default_cert_dir().map { unsafe String(cString: $0) } ?? usual
        let bundles = [
            "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem",
        ]
        return try TrustStore(folder: isReadable(usual) ? usual : own, bundle: bundles.first(where: isReadable))
    }

    private static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    private struct Entry {
        let store: TrustStore
        let stamp: FileStamp?
        let made: Instant
    }

    private static let known = Mutex<[Bytewise<String?>: Entry]>([:])
    /// As long as libcurl keeps what it has read.
    private static let lifetime = Interval.seconds(24 * 3600)
    private static let limit = 16

    /// The authorities of that file, or the system's; read again when the file has changed, and once a day.
    static func find(_ file: String?) throws(TransferFault) -> TrustStore {
        let now = SystemClock().now
        let stamp = file.flatMap(FileStamp.init)
        return try known.withLock { known throws(TransferFault) in
            if let found = known[Bytewise(file)], found.stamp == stamp, now < found.made + lifetime {
                return found.store
            }
            if known.count >= limit { known = [:] }
            let store = if let file { try TrustStore(file: file) } else { try system() }
            known[Bytewise(file)] = Entry(store: store, stamp: stamp, made: now)
            return store
        }
    }
}

/// What differs when a file has changed.
struct FileStamp: Hashable {
    private let device: UInt64
    private let inode: UInt64
    private let length: Int64
    private let modified: Int64

    /// `nil` when there is no such file.
    init?(_ path: String) {
        var stamp = pawl_stamp()
        guard unsafe pawl_stamp(AT_FDCWD, path, 1, &stamp) == 0 else { return nil }
        (device, inode, length, modified) = (stamp.device, stamp.inode, stamp.length, stamp.modified)
    }
}
