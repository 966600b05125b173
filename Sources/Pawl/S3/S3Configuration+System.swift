import Glibc
import PawlCore
import PawlSystem
import Synchronization

extension S3Configuration {
    /// The configuration of these options, with the environment and the files of this process's user if they may be used.
    init(_ options: DownloadOptions) {
        let isOwner = options.usesOwnersSecrets
        self.init(
            environment: { isOwner ? Self.variable($0) : nil }, file: { isOwner ? Self.bytes(at: $0) : nil },
            home: isOwner ? UserFolders.home : nil)
        profile = options.profile
        region = options.region
        endpoint = options.endpoint
        hasAuthorityFile = options.authorityFile != nil
        isAnonymous = !options.signsRequests
    }

    private static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    /// `nil` for what is no file that can be read.
    private static func bytes(at path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < AWSProfileFile.longest {
            let count = unsafe read(file, &piece, piece.count)
            guard count > 0 else { break }
            bytes += piece[..<count]
        }
        return bytes
    }
}

/// The access that options mean, for a while: a list of objects needs no file to be read for each of them.
final class S3AccessCache: Sendable {
    private struct Known {
        var options: [String?]
        var access: S3Access
        var until: Instant
    }

    private let known = Mutex<Known?>(nil)
    private static let lifetime = Interval.seconds(30)

    func access(_ options: borrowing DownloadOptions) throws(Failure) -> S3Access {
        let key = [
            options.profile, options.region, options.endpoint, "\(options.signsRequests)",
            "\(options.usesOwnersSecrets)", "\(options.authorityFile != nil)",
        ]
        let now = SystemClock().now
        if let known = known.withLock({ $0 }), known.options.hasSameBytes(as: key), now < known.until {
            return known.access
        }
        let access = try S3Configuration(copy options).access()
        known.withLock { $0 = Known(options: key, access: access, until: now + Self.lifetime) }
        return access
    }
}
