import Glibc
package import PawlBase
import PawlSystem

/// Prompts the user at the terminal for a password, without echo.
package enum PasswordPrompt {
    /// Returns `nil` without a terminal.
    package static func ask(_ user: String) throws(Failure) -> String? {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        defer { TerminalMode.restore() }
        // Keys are read one by one, Ctrl-C too: nothing else may end the program while echo is off.
        let isSilent = TerminalMode.change(terminal) { $0.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG) }
        guard isSilent else { return nil }
        say("pawl: password for \(TerminalText.harmless(user)): ", to: terminal)
        let typed = line(of: terminal)
        TerminalMode.restore()
        say("\n", to: terminal)
        if let typed { return typed }
        throw Failure(.unfinished, "cannot use", at: "--user \(user)", because: "no password was entered")
    }

    /// Reads up to the return key; returns `nil` after Ctrl-C or if the terminal is gone.
    private static func line(of terminal: Int32) -> String? {
        var bytes: [UInt8] = []
        var key: [UInt8] = [0]
        while true {
            switch (try? BoundedRead.some(terminal, into: &key)) == 1 ? key[0] : 3 {
            case 3: return nil
            case 4, 10, 13: return String(decoding: bytes, as: UTF8.self)
            // A multi-byte character is deleted as a whole.
            case 8, 127: while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case let byte: bytes.append(byte)
            }
        }
    }

    private static func say(_ text: String, to terminal: Int32) {
        try? WholeWrite.perform(text.utf8, to: terminal)
    }
}
