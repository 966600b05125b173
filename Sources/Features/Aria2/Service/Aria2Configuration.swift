import PawlBase
package import PawlIntake
package import PawlServer

/// The configuration of aria2's interface to the service.
package struct Aria2Configuration: Sendable {
    /// Whether the service takes aria2c's place: forgets its clients' downloads at its end, accepts every host name if
    /// the secret is right, and notifies WebSockets from this machine without a call.
    package var isStandIn = false
    /// aria2's session file with unfinished downloads, written on request, at an interval in seconds (0: never), and at
    /// the end.
    package var sessionFile: String?
    package var sessionInterval = 0
    /// Downloads added at the start, unless the queue contains their identifier already.
    package var entries: [InputEntry] = []
    package var options = Aria2Options()

    package init() {}

    /// Gives a service this interface.
    package func extend(_ service: inout ServiceConfiguration) {
        if isStandIn {
            service.allowsNamesWithSecret = true
            service.notifiesOwnMachine = true
            service.portRemedy = "choose another with --rpc-listen-port"
        }
        service.extensions.append { Aria2Extension(self, $0) }
    }
}
