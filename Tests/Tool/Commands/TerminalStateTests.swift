import Testing

@testable import PawlTerminal

@Suite struct TerminalStateTests {
    private func state(isTerminal: Bool = true, _ variables: [String: String]) -> TerminalState {
        TerminalState(isTerminal: isTerminal) { variables[$0] }
    }

    @Test func `escape codes are written to terminals that support them`() {
        #expect(state(["TERM": "xterm"]).takesCodes)
        #expect(state(["TERM": "xterm", "NO_COLOR": ""]).takesCodes)
        #expect(state(["TERM": "xterm", "NO_COLOR": "1"]).takesCodes)
        #expect(!state(["TERM": "xterm", "NO_COLOR": "1"]).takesColor)
        #expect(state(["TERM": "xterm", "NO_COLOR": ""]).takesColor)
        #expect(!state(["TERM": "dumb"]).takesCodes)
        #expect(!state([:]).takesCodes)
        #expect(!state(isTerminal: false, ["TERM": "xterm"]).takesCodes)
    }

    @Test func `non-ASCII characters need a locale that supports them`() {
        #expect(state(["LANG": "en_GB.UTF-8"]).takesUnicode)
        #expect(state(["LANG": "C", "LC_CTYPE": "C.utf8"]).takesUnicode)
        #expect(!state(["LC_ALL": "C", "LANG": "en_GB.UTF-8"]).takesUnicode)
        #expect(state(["LC_ALL": "", "LANG": "en_GB.UTF-8"]).takesUnicode)
        #expect(!state([:]).takesUnicode)
    }
}
