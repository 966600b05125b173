import Glibc
import PawlCore
import PawlSystem

/// Runs gpgv in a folder of its own, and reads its status lines: its exit status is not enough.
enum GnuPG {
    private static let program = "gpgv"

    static var isInstalled: Bool {
        let path = unsafe getenv("PATH").map { unsafe String(cString: $0) } ?? "/usr/local/bin:/usr/bin:/bin"
        return path.split(separator: ":").contains { unsafe access("\($0)/\(program)", X_OK) == 0 }
    }

    /// The text that a good signature by a key of the keyring covers; `nil` without one.
    static func signed(_ text: [UInt8], _ signature: [UInt8]?, keyring: [UInt8]) throws(Failure) -> [UInt8]? {
        let folder = try makeFolder()
        defer { remove(folder) }
        try write(keyring, to: "\(folder)/keyring")
        try write(text, to: "\(folder)/text")
        if let signature { try write(signature, to: "\(folder)/signature") }
        let output = "\(folder)/output"
        var arguments = ["--quiet", "--status-fd", "1", "--homedir", folder, "--keyring", "\(folder)/keyring"]
        arguments += signature == nil ? ["--output", output, "\(folder)/text"] : ["\(folder)/signature", "\(folder)/text"]
        try run(arguments, status: "\(folder)/status")
        guard !GnuPGStatus.goodKeys(try read("\(folder)/status")).isEmpty else { return nil }
        // Of a clear-signed text only what gpgv has verified counts.
        return signature == nil ? try read(output) : text
    }

    private static func makeFolder() throws(Failure) -> String {
        let parent = unsafe getenv("TMPDIR").map { unsafe String(cString: $0) } ?? "/tmp"
        var name = Array("\(parent)/pawl-signature-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw Failure.system(.cannotCreate, "cannot create a folder in", at: parent, .last)
        }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func remove(_ folder: String) {
        for name in ["keyring", "text", "signature", "output", "status"] { unsafe unlink("\(folder)/\(name)") }
        unsafe rmdir(folder)
    }

    private static func write(_ bytes: [UInt8], to path: String) throws(Failure) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.system(.cannotCreate, "cannot create", at: path, .last) }
        let file = OpenFile(adopting: descriptor)
        do throws(SystemError) { try file.write(bytes, at: 0) } catch {
            throw Failure.system(.inputOutput, "cannot write", at: path, error)
        }
    }

    /// At most as much as a sums file may have.
    private static func read(_ path: String) throws(Failure) -> [UInt8] {
        do throws(SystemError) {
            let file = try OpenFile(at: path)
            let length = min(Int(try file.status().length), SumsFile.longest)
            return try file.bytes(at: 0, count: length)
        } catch {
            throw Failure.system(.inputOutput, "cannot read", at: path, error)
        }
    }

    /// Runs the program to its end, with its standard output in `status`.
    private static func run(_ arguments: [String], status: String) throws(Failure) {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, status, O_WRONLY | O_CREAT, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = unsafe ([program] + arguments).map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe words.indices { unsafe free(words[index]) } }
        var child: pid_t = 0
        let number = unsafe posix_spawnp(&child, program, &actions, &attributes, &words, environ)
        guard number == 0 else {
            throw Failure.system(.cannotOpen, "cannot start", at: program, SystemError(number: number))
        }
        var result: Int32 = 0
        while unsafe waitpid(child, &result, 0) < 0, errno == EINTR {}
    }
}
