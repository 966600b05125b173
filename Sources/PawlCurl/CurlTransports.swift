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

    package func makeTransport(on poller: any Poller) -> any Transport {
        let transport = CurlTransport(clock: clock, poller: poller)
        transport.trace = trace
        return transport
    }
}
