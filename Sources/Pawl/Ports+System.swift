import PawlCore
import PawlCurl
import PawlDisk
package import PawlEngine
import PawlReach

extension Ports {
    /// This machine's clock, disk, network and threads; `notice` receives notices that belong to no single
    /// download.
    package static func system(notice: @escaping @Sendable (String) -> Void) -> Ports {
        let clock = SystemClock()
        return Ports(
            clock: clock,
            disk: FileDisk(notice: notice),
            reachability: SystemReachability(),
            threads: SystemThreads(),
            transports: CurlTransports(clock: clock)
        )
    }
}

extension DownloadOptions {
    /// These options, for content in memory.
    func forMemory() throws(PawlError) -> DownloadOptions {
        guard checksum == nil else {
            throw PawlError(
                Failure(
                    .badOption,
                    "cannot use",
                    at: "a checksum",
                    because: "content in memory is not verified"
                )
            )
        }
        var options = self
        options.connections = 1
        options.existingFile = .rename
        return options
    }
}
