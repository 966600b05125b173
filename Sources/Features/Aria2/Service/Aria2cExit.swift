package import Pawl
import PawlBase
import PawlJournal
package import PawlServer
import Synchronization

/// The exit code that aria2c has for a failure.
///
/// Pawl's codes are aria2's table, but it tells some failures apart that aria2c does not.
package enum Aria2cExit {
    package static func code(of error: PawlError, mostNotFound: Int64 = 0) -> UInt8 {
        if let status = status(of: error) {
            switch status {
            case 404: return mostNotFound > 0 ? 4 : 3
            case 401: return 24
            case 502, 503, 504: return 29
            // aria2c has one code for every other status.
            default: return 22
            }
        }
        // aria2c does not look for a folder's listing.
        if error.cause?.id == "fault-path-is-folder" { return 1 }
        // aria2c's code for everything that an FTP server refuses.
        if error.code == .authorization, error.failure.place.hasPrefix("ftp") { return 21 }
        switch error.code {
        // aria2c has no code for a connection that is refused or lost.
        case .network: return 1
        // A failed TLS handshake, too.
        case .insecure: return 1
        // A URL that cannot be used ends only its own download.
        case .badOption: return 1
        // aria2c cannot append to a file whose content differs either.
        case .cannotResume: return 8
        default: return error.code.rawValue
        }
    }

    /// Whether the file that is there is longer than the server's.
    package static func isOfLongerFile(_ error: PawlError) -> Bool { error.cause?.id == "size-below-bytes-on-disk" }

    /// The HTTP status that is the cause.
    package static func status(of error: PawlError) -> Int? { error.cause?.httpStatus.flatMap { Int($0) } }
}

/// aria2c's exit code of a service that ends: that of the last failure, else 7 if a download was running.
package final class StandInEnding: Sendable {
    private let code = Mutex<UInt8>(0)

    package init() {}

    package var exitCode: UInt8 { code.withLock { $0 } }

    /// Reads the state of the queue, before it is closed.
    package func note(_ service: Service) async {
        let failed = try? await service.manager.downloads(
            matching: DownloadFilter([.failed]), by: .ended(newestFirst: true), limit: 1
        ).first
        let counts = try? await service.manager.counts()
        let last = (failed ?? nil)?.error.map { Aria2cExit.code(of: $0) }
        code.withLock { $0 = last ?? (counts?.running ?? 0 > 0 ? PawlError.Code.unfinished.rawValue : 0) }
    }
}
