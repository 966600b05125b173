import PawlCore
package import PawlEngine

/// Makes libcurl transports.
package struct CurlTransports: TransportMaker {
    private let clock: any Clock

    package init(clock: any Clock) { self.clock = clock }

    /// Stops the process without libcurl, which only fails to start when memory or the installation is broken.
    package func makeTransport() -> any Transport {
        do throws(Failure) {
            return try CurlTransport(clock: clock)
        } catch {
            preconditionFailure(error.description)
        }
    }
}
