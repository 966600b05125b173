import Glibc
package import PawlBase

// Programs that answer on standard output what they are asked on standard input.
extension ChildProcess {
    /// What a program has answered, and its exit code: 128 and more for a signal.
    package struct Answer: Hashable, Sendable {
        package var code: Int32
        package var bytes: [UInt8]
    }

    /// The most bytes of a question: a pipe takes them at once.
    package static let longestQuestion = 4096

    /// Runs a program found in PATH, and blocks until it has closed its output; one that takes longer than `patience`, or
    /// answers more than `limit` bytes, is ended by SIGKILL, and its answer is `nil`; so is one that is not wanted any more,
    /// which is looked at a few times a second.
    package static func ask(
        _ name: String, _ arguments: [String], _ question: [UInt8], limit: Int, patience: Interval,
        isWanted: () -> Bool = { true }
    ) throws(Failure) -> Answer? {
        let deadline = SystemClock().now + patience
        guard question.count <= longestQuestion, let input = ends(), let output = ends() else {
            throw Failure(.cannotOpen, "cannot start", at: name, because: SystemError.last.text)
        }
        var answers = [output.writer, input.reader, input.writer]
        defer { for descriptor in answers + [output.reader] { close(descriptor) } }
        do throws(SystemError) { try WholeWrite.perform(question, to: input.writer) } catch {
            throw Failure(.cannotOpen, "cannot start", at: name, because: error.text)
        }
        let child = try start(name, [name] + arguments, pipes: (input.reader, output.writer))
        for descriptor in answers { close(descriptor) }
        answers = []
        guard let bytes = read(output.reader, atMost: limit, until: deadline, isWanted) else {
            kill(child, SIGKILL)
            _ = status(of: child)
            return nil
        }
        return Answer(code: status(of: child), bytes: bytes)
    }

    private static func ends() -> (reader: Int32, writer: Int32)? {
        var ends: [Int32] = [-1, -1]
        return unsafe pipe(&ends) == 0 ? (ends[0], ends[1]) : nil
    }

    /// All bytes up to the end; `nil` if there are more, or the end does not come in time.
    private static func read(
        _ pipe: Int32, atMost limit: Int, until deadline: Instant, _ isWanted: () -> Bool
    ) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= limit {
            let left = (deadline - SystemClock().now).nanoseconds / 1_000_000 + 1
            guard left > 0, isWanted() else { return nil }
            var ready = pollfd(fd: pipe, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&ready, 1, Int32(clamping: min(left, 200))) > 0 else { continue }
            guard let count = try? BoundedRead.some(pipe, into: &piece) else { return nil }
            if count == 0 { return bytes }
            bytes += piece[..<count]
        }
        return nil
    }
}
