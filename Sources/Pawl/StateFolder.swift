import Glibc

/// The folder for Pawl's own state.
package enum StateFolder {
    /// `$XDG_STATE_HOME/pawl`, else `~/.local/state/pawl`; `nil` without a home directory.
    package static var usual: String? {
        if let state = variable("XDG_STATE_HOME"), state.hasPrefix("/") { return "\(state)/pawl" }
        return variable("HOME").flatMap { $0.hasPrefix("/") ? "\($0)/.local/state/pawl" : nil }
    }

    private static func variable(_ name: String) -> String? {
        unsafe getenv(name).map { unsafe String(cString: $0) }
    }
}
