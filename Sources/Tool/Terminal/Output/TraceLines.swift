import Pawl
package import PawlBase

/// Requests and responses as `curl -v` shows them: `>` sent, `<` received, `*` about them.
package enum TraceLines {
    package static func lines(_ trace: TransferTrace) -> [String] {
        switch trace {
        case .request(let lines, _): (lines + [""]).map { "> \(harmless($0))" }
        case .response(let lines): lines.isEmpty ? [] : (lines + [""]).map { "< \(harmless($0))" }
        case .verdict(true, _): ["* accepted: the body is written to the file"]
        case .verdict(false, let status):
            [(300..<400).contains(status) ? "* redirected" : "* not used: status \(status)"]
        case .hostLimit(let note, let host):
            ["* \(HostLimitText(DownloadSnapshot.HostLimit(note, of: harmless(host))).details)"]
        case .failed(let why): ["* transfer failed: \(harmless(why))"]
        }
    }

    private static func harmless(_ line: String) -> String { TerminalText.harmless(line) }
}
