import PawlSystem

/// The folder for Pawl's own state.
package enum StateFolder {
    /// `$XDG_STATE_HOME/pawl`, else `~/.local/state/pawl`; `nil` without a home directory.
    package static var usual: String? { UserFolders.state.map { "\($0)/pawl" } }
}
