package import PawlBase

/// The available methods.
package protocol RPCMethods: Sendable {
    /// Names of all methods except `system.…`.
    var names: [String] { get }
    /// Whether there is a method of that name.
    func has(_ name: String) -> Bool
    /// Names of the notifications that WebSockets get.
    var notifications: [String] { get }
    /// Whether a call of this method changes nothing.
    func isReadOnly(_ method: String) -> Bool
    /// Whether this method returns options, which may contain passwords.
    func returnsOptions(_ method: String) -> Bool
    func call(_ method: String, _ parameters: [JSON], _ rights: RPCRights) async throws(RPCError) -> JSON
}

/// The rights of a message, derived from its source.
package struct RPCRights: Hashable, Sendable {
    /// Only the owner can have sent it.
    package var isTrusted: Bool
    /// Its sender has authenticated before: it is not guessing.
    package var isKnown: Bool
    /// Calls that change something are refused: any page can make a browser send a GET.
    package var isReadOnly: Bool
    /// It may name local files for the service to read: only for senders that can read them anyway.
    package var mayNameFiles: Bool
    /// The response becomes a script, which any page can run: it must not contain anything that may hold a password.
    package var isScript = false

    package init(isTrusted: Bool, isReadOnly: Bool, mayNameFiles: Bool = false) {
        self.isTrusted = isTrusted
        isKnown = isTrusted
        self.isReadOnly = isReadOnly
        self.mayNameFiles = mayNameFiles
    }
}

extension RPCMethods { package func has(_ name: String) -> Bool { names.contains(name) } }
