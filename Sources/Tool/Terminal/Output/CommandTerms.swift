package import PawlBase
import Synchronization

/// What the messages of a command call options and actions: an option that it has by its name, another one by its title.
package struct CommandTerms: Sendable, Hashable {
    /// The names of its options; `nil` where it may have any.
    private let options: Set<String>?

    /// Those of no command in particular.
    package init() { options = nil }

    package init(of command: Command) { options = Set(command.options.flatMap(\.names)) }

    package func text(of id: OptionID) -> String {
        guard let options else { return id.option }
        return options.contains(String(id.option.dropFirst(2))) ? id.option : id.title
    }

    package func text(of remedy: Remedy) -> String {
        // Where they are refused unless allowed, there is nothing to disable.
        if remedy.concernsPrivateAddresses, options?.contains("allow-private-addresses") == true {
            return "use --allow-private-addresses if this is intended"
        }
        return remedy.worded {
            text(of: $0)
        } resume: {
            "run the same command again"
        }
    }

    private static let current = Mutex(CommandTerms())

    /// Those of the command that this process runs.
    package static var running: CommandTerms { current.withLock { $0 } }

    /// From now on `command` is the one that runs.
    package static func run(_ command: Command) { current.withLock { $0 = CommandTerms(of: command) } }
}

extension Remedy {
    /// Whether it is that for an address of this machine or of a private network, which is refused.
    package var concernsPrivateAddresses: Bool { parts.contains(.option(.deniesPrivateAddresses)) }
}
