import Glibc
import PawlCore

/// Asks the person at the terminal for a password, which is not shown.
enum PasswordPrompt {
    /// `nil` where there is no terminal.
    static func ask(_ user: String) throws(Failure) -> String? {
        let terminal = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
        guard terminal >= 0 else { return nil }
        defer { close(terminal) }
        var former = termios()
        guard unsafe tcgetattr(terminal, &former) == 0 else { return nil }
        var silent = former
        // Keys come one by one, Ctrl-C as well: nothing else may end the program while the terminal shows nothing.
        silent.c_lflag &= ~tcflag_t(ECHO | ICANON | ISIG)
        guard unsafe tcsetattr(terminal, TCSAFLUSH, &silent) == 0 else { return nil }
        say("pawl: password for \(TerminalText.harmless(user)): ", to: terminal)
        let typed = line(of: terminal)
        unsafe tcsetattr(terminal, TCSAFLUSH, &former)
        say("\n", to: terminal)
        if let typed { return typed }
        throw Failure(.unfinished, "cannot go on", at: "--user \(user)", because: "no password was given")
    }

    /// Up to the return key; `nil` after Ctrl-C or when the terminal is gone.
    private static func line(of terminal: Int32) -> String? {
        var bytes: [UInt8] = []
        var key: UInt8 = 0
        while true {
            let count = unsafe read(terminal, &key, 1)
            if count < 0, errno == EINTR { continue }
            switch count == 1 ? key : 3 {
            case 3: return nil
            case 4, 10, 13: return String(decoding: bytes, as: UTF8.self)
            // A letter of several bytes goes as a whole.
            case 8, 127: while let last = bytes.popLast(), last & 0xC0 == 0x80 {}
            case let letter: bytes.append(letter)
            }
        }
    }

    private static func say(_ text: String, to terminal: Int32) {
        let bytes = Array(text.utf8)
        _ = unsafe write(terminal, bytes, bytes.count)
    }
}
