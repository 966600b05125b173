import Pawl
package import PawlServer
import Synchronization

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
