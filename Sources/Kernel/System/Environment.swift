import Glibc

/// The environment of the process: variables, and the user's folders as they name them.
///
/// An empty variable is a missing one. A folder's relative path is ignored, as the XDG Base Directory Specification requires:
/// it would be another folder in each working directory.
package enum Environment {
    package static func value(_ name: String) -> String? {
        guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { return nil }
        return unsafe String(cString: value)
    }

    private static func folder(_ name: String) -> String? { absolute(value(name)) }

    static func absolute(_ path: String?) -> String? { path?.utf8.first == UInt8(ascii: "/") ? path : nil }

    /// `$HOME`.
    package static var home: String? { folder("HOME") }
    /// `$XDG_STATE_HOME`, else `~/.local/state`.
    package static var state: String? { folder("XDG_STATE_HOME") ?? home.map { "\($0)/.local/state" } }
    /// Pawl's own state.
    package static var pawlState: String? { state.map { "\($0)/pawl" } }
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    package static var configuration: String? { folder("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" } }
    /// `$XDG_RUNTIME_DIR`.
    package static var runtime: String? { folder("XDG_RUNTIME_DIR") }
    /// `$TMPDIR`, else `/tmp`.
    package static var temporary: String { folder("TMPDIR") ?? "/tmp" }
}
