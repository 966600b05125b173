#if Features
import Glibc
import PawlBase
import PawlStreams
import PawlSystem

/// Joins the files of a stream by the program ffmpeg, in a process of its own that opens nothing but these files.
enum StreamRemux {
    /// The program's name.
    static let program = "ffmpeg"

    static var isInstalled: Bool { isInstalled(program) }

    private static func isInstalled(_ name: String) -> Bool {
        let folders = (Environment.value("PATH") ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { unsafe access("\($0)/\(name)", X_OK) == 0 }
    }

    /// Blocks until the output is written; throws why it is not, and that it was stopped.
    ///
    /// `size`: the bytes of all inputs.
    static func run(_ plan: RemuxPlan, size: Int64, isWanted: () -> Bool) throws(Failure) {
        let guarded = isInstalled(RemuxPlan.keeper[0]) ? RemuxPlan.keeper : []
        // The output is about as long as the inputs.
        let blocks = size / 512 * 2 + (128 << 20) / 512
        let script = "ulimit -f \(blocks) && exec \"$@\" 2>&1"
        let answer = try ChildProcess.ask(
            "sh", ["-c", script, "sh"] + guarded + [program] + plan.arguments, [], limit: 1 << 20,
            patience: .seconds(60 + Double(size) / 1_000_000), isWanted: isWanted)
        func failed(_ why: String) -> Failure { Failure(.unknown, "cannot join", at: plan.output, because: why) }
        guard let answer else { throw failed("\(program) was ended") }
        guard answer.code != 0 else { return }
        let last = answer.bytes.split(separator: UInt8(ascii: "\n")).last.map { String(decoding: $0, as: UTF8.self) }
        throw failed(
            "\(program) ended with code \(answer.code)" + (last.map { " (\(Redaction.printable($0)))" } ?? ""))
    }

    /// When a file of fragments is played; `nil` where that cannot be read.
    static func times(of path: String) -> FragmentTimes? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var found = stat()
        guard unsafe fstat(file, &found) == 0 else { return nil }
        return FragmentTimes(length: Int64(found.st_size)) { offset, count in
            let bytes = try? unsafe BoundedRead.bytes(count) { room throws(SystemError) in
                try unsafe BoundedRead.fill(room, from: file, at: offset)
            }
            return bytes ?? []
        }
    }
}
#endif
