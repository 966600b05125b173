import PawlCore
import PawlCurl
import PawlDisk
package import PawlEngine
import PawlReach

extension Ports {
    /// This machine's clock, disk, network and threads; `notice` hears what belongs to no single download.
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
    /// These, for content that goes into memory.
    func forMemory() throws(PawlError) -> DownloadOptions {
        guard checksum == nil else {
            throw PawlError(
                Failure(.badOption, "cannot take", at: "a checksum", because: "content in memory has none")
            )
        }
        var options = self
        options.connections = 1
        options.existingFile = .rename
        return options
    }
}
