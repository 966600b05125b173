package import PawlCore
package import PawlEngine

/// Makes libcurl transports.
package struct CurlTransports: TransportMaker {
    private let clock: any Clock

    package init(clock: any Clock) { self.clock = clock }

    package func makeTransport() throws(Failure) -> any Transport { try CurlTransport(clock: clock) }
}
