import Glibc
package import PawlBase
import PawlSystem
import Synchronization

/// Prompts the user at the terminal for a password, without echo.
package enum PasswordPrompt {
    /// The terminal whose echo is off, with its former state.
    private static let silenced = Mutex<(terminal: Int32, former: termios)?>(nil)

    /// Returns `nil` without a terminal.
    package static func ask(_ user: String) throws(Failure) -> String? {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var former = termios()
        guard unsafe tcgetattr(terminal, &former) == 0 else { return nil }
        var silent = former
        // Keys are read one by one, Ctrl-C too: nothing else may end the program while echo is off.
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        silenced.withLock { [former] in $0 = (terminal, former) }
        defer { restoreEcho() }
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        say("pawl: password for \(TerminalText.harmless(user)): ", to: terminal)
        let typed = line(of: terminal)
        restoreEcho()
        say("\n", to: terminal)
        if let typed { return typed }
        throw Failure(.unfinished, "cannot use", at: "--user \(user)", because: "no password was entered")
    }

    /// Ends the prompt's hold on the terminal; from any thread.
    static func restoreEcho() {
        silenced.withLock { silenced in
            guard var held = silenced else { return }
            unsafe tcsetattr(held.terminal, TCSAFLUSH, &held.former)
            silenced = nil
        }
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
