package import PawlBase

/// Receives the cookies of an origin, as lines of the Netscape format: those that it started with, and those that it has.
package typealias CookieReceiver = @Sendable (_ loaded: [String], _ current: [String]) -> Void

/// Makes libcurl transports.
package struct CurlTransports: TransportMaker {
    private let clock: any Clock
    private let trace: (@Sendable (TransferTrace) -> Void)?
    private let preparers: RequestPreparers
    private let onCookies: CookieReceiver?

    /// `trace` and `onCookies` are called on the threads of the transports, `onCookies` at the latest when one ends.
    package init(
        clock: any Clock, preparers: RequestPreparers = [:], trace: (@Sendable (TransferTrace) -> Void)? = nil,
        onCookies: CookieReceiver? = nil
    ) {
        self.clock = clock
        self.preparers = preparers
        self.trace = trace
        self.onCookies = onCookies
    }

    package func makeTransport(on poller: any Poller) -> any Transport {
        let transport = CurlTransport(clock: clock, poller: poller, preparers: preparers, onCookies: onCookies)
        transport.trace = trace
        return transport
    }
}
