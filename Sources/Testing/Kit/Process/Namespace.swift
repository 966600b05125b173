import Glibc

/// A network namespace joined to this one by a veth pair that can be unplugged.
///
/// Needs root and iproute2.
package final class Namespace: Sendable {
    package let name: String
    /// The address of this side, on which an ``OriginServer`` listens for programs inside.
    package let address: String
    private let inside: String
    private let outerLink: String
    private let innerLink: String

    /// Creates the namespace with its link up.
    ///
    /// `number` keeps concurrent namespaces apart (0…200).
    package init(number: Int) throws {
        let unique = "\(getpid() % 100_000)x\(number)"
        name = "pawl\(unique)"
        outerLink = "po\(unique)"
        innerLink = "pi\(unique)"
        address = "10.213.\(number).1"
        inside = "10.213.\(number).2"
        try Self.ip("netns", "add", name)
        try Self.ip("link", "add", outerLink, "type", "veth", "peer", "name", innerLink, "netns", name)
        try Self.ip("addr", "add", "\(address)/24", "dev", outerLink)
        try Self.ip("link", "set", outerLink, "up")
        try Self.ip("-n", name, "addr", "add", "\(inside)/24", "dev", innerLink)
        try Self.ip("-n", name, "link", "set", "lo", "up")
        try plugIn()
    }

    deinit {
        try? Self.ip("netns", "delete", name)
        try? Self.ip("link", "delete", outerLink)
    }

    /// Connects the network: link and default route.
    package func plugIn() throws {
        try Self.ip("-n", name, "link", "set", innerLink, "up")
        try Self.ip("-n", name, "route", "replace", "default", "via", address)
    }

    /// Disconnects the network: the kernel drops the routes with the link.
    package func unplug() throws { try Self.ip("-n", name, "link", "set", innerLink, "down") }

    /// Starts a program inside.
    package func start(_ program: String, _ arguments: [String]) throws -> PawlProcess {
        try PawlProcess(Self.tool, ["netns", "exec", name, program] + arguments)
    }

    /// Whether namespaces and veth pairs can be created here.
    package static let isAvailable: Bool = (try? Namespace(number: 201)) != nil

    private static let tool = ["/usr/sbin/ip", "/sbin/ip"].first { FileSystem.exists($0) } ?? "/usr/sbin/ip"

    private static func ip(_ arguments: String...) throws {
        let process = try PawlProcess.run(tool, arguments)
        guard process.exit == .code(0) else {
            throw SetupFailure("ip \(arguments.joined(separator: " ")): \(process.errors)", EPERM)
        }
    }
}
