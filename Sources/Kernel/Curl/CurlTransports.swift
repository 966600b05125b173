package import PawlBase

/// Makes libcurl transports.
package struct CurlTransports: TransportMaker {
    private let clock: any Clock

    package init(clock: any Clock) { self.clock = clock }

    package func makeTransport(on poller: any Poller) -> any Transport { CurlTransport(clock: clock, poller: poller) }
}
