import Glibc

/// The user's folders, as environment variables name them.
///
/// A relative path is ignored, as the XDG Base Directory Specification requires: it would be another folder in each working
/// directory.
package enum UserFolders {
    /// `$HOME`.
    package static var home: String? { absolute("HOME") }
    /// `$XDG_STATE_HOME`, else `~/.local/state`.
    package static var state: String? { absolute("XDG_STATE_HOME") ?? home.map { "\($0)/.local/state" } }
    /// `$XDG_CONFIG_HOME`, else `~/.config`.
    package static var configuration: String? { absolute("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" } }
    /// `$XDG_RUNTIME_DIR`.
    package static var runtime: String? { absolute("XDG_RUNTIME_DIR") }

    private static func absolute(_ name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let path = unsafe String(cString: value)
        return path.utf8.first == UInt8(ascii: "/") ? path : nil
    }
}
