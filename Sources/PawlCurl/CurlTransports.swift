package import PawlCore
package import PawlEngine

/// Makes libcurl transports.
package struct CurlTransports: TransportMaker {
    private let clock: any Clock
    private let trace: (@Sendable (TransferTrace) -> Void)?

    /// `trace` is called on the threads of the transports.
    package init(clock: any Clock, trace: (@Sendable (TransferTrace) -> Void)? = nil) {
        self.clock = clock
        self.trace = trace
    }

    /// Stops the process without libcurl, which only fails to start when memory or the installation is broken.
    package func makeTransport(on poller: any Poller) -> any Transport {
        do throws(Failure) {
            let transport = try CurlTransport(clock: clock, poller: poller)
            transport.trace = trace
            return transport
        } catch {
            preconditionFailure(error.description)
        }
    }
}
