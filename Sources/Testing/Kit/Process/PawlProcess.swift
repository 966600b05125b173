package import Glibc
import PawlSystem

/// A program that a test started: its output is collected while it runs, and it is killed when it is deallocated.
package final class PawlProcess: Sendable {
    /// How a process ended.
    package enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    package enum Stream: Hashable, Sendable {
        case out
        case err
    }

    struct State {
        var out: [UInt8] = []
        var err: [UInt8] = []
        var exit: Exit?
    }

    package let identifier: pid_t
    private let state = Monitor(State())

    /// Starts `program`.
    ///
    /// `environment` is added to the test's own, without proxies.
    package init(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil
    ) throws(SetupFailure) {
        let out = try Pipe.make()
        let err = try Pipe.make()
        defer {
            close(out[1])
            close(err[1])
        }
        let launch = Launch(
            program: folder == nil ? program : "/usr/bin/env",
            arguments: folder.map { ["-C", $0, program] + arguments } ?? arguments,
            environment: Self.environment(adding: environment), out: out[1], err: err[1])
        do throws(SetupFailure) { identifier = try launch.run() } catch {
            close(out[0])
            close(err[0])
            throw error
        }
        watch(out: out[0], err: err[0])
    }

    deinit {
        guard exit == nil else { return }
        kill(identifier, SIGKILL)
    }

    private func watch(out: Int32, err: Int32) {
        let (state, identifier) = (state, identifier)
        let drains = [
            SystemThread.start { Self.drain(out) { bytes in state.with { $0.out += bytes } } },
            SystemThread.start { Self.drain(err) { bytes in state.with { $0.err += bytes } } },
        ]
        SystemThread.detached {
            var information = unsafe siginfo_t()
            // Waits without reaping, so that the pid is not reused while signals may be sent to it.
            while unsafe waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            for drain in drains { drain.join() }
            state.with { state in
                var status: Int32 = 0
                unsafe waitpid(identifier, &status, 0)
                let signal = status & 0x7F
                state.exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
            }
        }
    }

    private static func drain(_ descriptor: Int32, _ take: ([UInt8]) -> Void) {
        var block = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe read(descriptor, &block, block.count)
            if count > 0 { take(Array(block[..<count])) } else if count == 0 || errno != EINTR { break }
        }
        close(descriptor)
    }

    private static func environment(adding added: [String: String]) -> [String] {
        var values: [String: String] = [:]
        var entry = unsafe environ
        while let text = unsafe entry.pointee {
            let line = unsafe String(cString: text)
            let name = String(line.prefix { $0 != "=" })
            if !name.lowercased().hasSuffix("_proxy") { values[name] = String(line.dropFirst(name.count + 1)) }
            unsafe entry += 1
        }
        return values.merging(added) { $1 }.map { "\($0)=\($1)" }
    }
}

extension PawlProcess {
    /// Sends a signal, unless the process has ended.
    package func send(_ signal: Int32) { state.with { state in if state.exit == nil { kill(identifier, signal) } } }

    /// How it ended, `nil` while it runs.
    package var exit: Exit? { state.read(\.exit) }

    /// Waits for the end; kills it and returns `nil` when `limit` passed first.
    @discardableResult package func wait(atMost limit: Duration = .patience) -> Exit? {
        if let exit = state.wait(atMost: limit, for: \.exit) { return exit }
        send(SIGKILL)
        // A child of its own may still have its output.
        _ = state.wait(atMost: .seconds(10), for: \.exit)
        return nil
    }

    package var output: String { state.read { String(decoding: $0.out, as: UTF8.self) } }
    package var errors: String { state.read { String(decoding: $0.err, as: UTF8.self) } }
    package var outputBytes: [UInt8] { state.read(\.out) }

    /// The complete lines of standard output.
    package var lines: [String] { Self.lines(state.read(\.out)) }

    /// Waits until a complete line satisfies `condition` and returns it; `nil` when the process ended without one.
    @discardableResult package func line(
        in stream: Stream = .out, atMost limit: Duration = .patience, where condition: (String) -> Bool
    ) -> String? {
        var seen = 0
        var isOver = false
        return state.wait(atMost: limit) { state -> String?? in
            let bytes = stream == .out ? state.out : state.err
            let lines = Self.lines(bytes[seen...])
            if let line = lines.first(where: condition) { return line }
            seen = (bytes.lastIndex(of: 10) ?? -1) + 1
            isOver = state.exit != nil
            return isOver ? .some(nil) : nil
        } ?? nil
    }

    /// Waits until the standard output so far satisfies `condition`; `false` when the process ended before.
    package func hasShown(atMost limit: Duration = .patience, _ condition: (String) -> Bool) -> Bool {
        state.wait(atMost: limit) { state -> Bool? in
            if condition(String(decoding: state.out, as: UTF8.self)) { return true }
            return state.exit == nil ? nil : false
        } ?? false
    }

    private static func lines(_ bytes: some BidirectionalCollection<UInt8>) -> [String] {
        guard let end = bytes.lastIndex(of: 10) else { return [] }
        return bytes[..<end].split(separator: 10, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    /// The peak of its resident memory so far, in bytes; `nil` when it has ended.
    ///
    /// Read from the kernel while it runs: the value of `wait4` includes the test's own memory, which a
    /// spawned process shares until its exec.
    package var peakResident: Int64? {
        guard let status = FileSystem.contents("/proc/\(identifier)/status") else { return nil }
        let text = String(decoding: status, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }) else { return nil }
        return Int64(line.filter(\.isNumber)).map { $0 * 1024 }
    }
}

extension PawlProcess {
    /// Runs a program to its end.
    package static func run(
        _ program: String, _ arguments: [String], environment: [String: String] = [:], folder: String? = nil,
        atMost limit: Duration = .patience
    ) throws(SetupFailure) -> PawlProcess {
        let process = try PawlProcess(program, arguments, environment: environment, folder: folder)
        process.wait(atMost: limit)
        return process
    }
}
