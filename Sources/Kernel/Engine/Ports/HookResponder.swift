package import PawlBase
package import PawlCore

/// Asks the program.
package protocol HookResponder: Sendable {
    /// Passes the question on and returns at once; it is called on the loop's thread.
    ///
    /// `reply` is to be called once, on any thread. The result withdraws the question: a reply after that has no
    /// effect.
    func ask(
        _ question: HookQuestion, of id: DownloadID, reply: @escaping @Sendable (HookReply) -> Void
    ) -> @Sendable () -> Void
}

/// The program's reply, with the secrets that the machine does not see.
package enum HookReply: Sendable {
    case decision(HookDecision)
    /// Send the request to this address, with these header lines.
    case request(WebAddress, fields: [String])
    /// Repeat the request with this login.
    case login(HookLogin)
    /// Follow the redirect to this address, with these header lines.
    case redirect(WebAddress, fields: [String])
}

/// A login that the program gave for an origin.
package enum HookLogin: Hashable, Sendable {
    case credentials(Credentials)
    /// The value of Authorization.
    case field(String)
}
