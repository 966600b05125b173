import Glibc
import PawlBase
import PawlDisk
import PawlSystem

/// Runs gpgv in a folder of its own, and reads its status lines: its exit status is not enough.
enum GnuPG {
    private static let program = "gpgv"

    static var isInstalled: Bool {
        let path = Environment.value("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
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
        arguments +=
            signature == nil ? ["--output", output, "\(folder)/text"] : ["\(folder)/signature", "\(folder)/text"]
        let gpgv = try ChildProcess.start(program, [program] + arguments, output: "\(folder)/status")
        _ = ChildProcess.status(of: gpgv)
        guard !GnuPGStatus.goodKeys(try read("\(folder)/status")).isEmpty else { return nil }
        // Of a clear-signed text only what gpgv has verified counts.
        return signature == nil ? try read(output) : text
    }

    private static func makeFolder() throws(Failure) -> String {
        let parent = Environment.temporary
        sweep(parent)
        var name = Array("\(parent)/\(beginning)\(getpid())-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&name) != nil else {
            throw Failure.system(.cannotCreate, "cannot create a folder in", at: parent, .last)
        }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static let beginning = "pawl-signature-"

    /// Removes the folders of this user's processes that a kill ended.
    private static func sweep(_ parent: String) {
        for name in FolderNames.read(parent) where name.hasPrefix(beginning) {
            let number = name.dropFirst(beginning.count).prefix { $0 != "-" }
            var found = stat()
            guard let process = pid_t(number), kill(process, 0) != 0, errno == ESRCH,
                unsafe lstat("\(parent)/\(name)", &found) == 0, found.st_uid == geteuid(),
                found.st_mode & S_IFMT == S_IFDIR
            else { continue }
            remove("\(parent)/\(name)")
        }
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
        } catch { throw Failure.system(.inputOutput, "cannot read", at: path, error) }
    }
}
