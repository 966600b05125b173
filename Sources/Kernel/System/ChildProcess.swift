import CPawlSystem
package import Glibc
package import PawlBase
import Synchronization

/// Starts programs without a shell.
package enum ChildProcess {
    /// The first descriptor after standard input, output and error.
    package static let firstDescriptor: Int32 = 3

    /// The environment is this process's with additions; signal dispositions are reset to their defaults, and the soft limit
    /// of descriptors to the one that this process was started with.
    ///
    /// The program inherits standard input, output and error, and `descriptor` as the number `firstDescriptor`; nothing else that
    /// is open here. With `output`, a new file, its standard output goes there, and input and errors are /dev/null; with `pipes`
    /// these become its standard input and output.
    package static func start(
        _ path: String, _ arguments: [String], environment additions: [String] = [], output: String? = nil,
        passing descriptor: Int32? = nil, pipes: (questions: Int32, answers: Int32)? = nil
    ) throws(Failure) -> pid_t {
        let words = unsafe arguments.map { unsafe strdup($0) } + [nil]
        let variables = unsafe additions.map { unsafe strdup($0) }
        let copies = unsafe words + variables
        defer { for index in unsafe copies.indices { unsafe free(copies[index]) } }
        var all = unsafe variables
        var next = unsafe environ
        while let variable = unsafe next.pointee {
            unsafe all.append(variable)
            unsafe next += 1
        }
        unsafe all.append(nil)
        var child: pid_t = 0
        // Together with the note, so that ``reapOrphans()`` cannot take the status of a child that has just ended.
        let number = attended.withLock { attended in
            let number = unsafe spawn(
                &child, path, words, all, output: output, passing: descriptor, pipes)
            if number == 0 { attended.insert(child) }
            return number
        }
        guard number == 0 else {
            let cause = SystemError(number: number).message
            throw Failure(.cannotOpen, "cannot start", at: path, because: cause)
        }
        return child
    }

    private static func spawn(
        _ child: inout pid_t, _ path: String, _ words: [UnsafeMutablePointer<CChar>?],
        _ variables: [UnsafeMutablePointer<CChar>?], output: String?, passing descriptor: Int32?,
        _ pipes: (questions: Int32, answers: Int32)?
    ) -> Int32 {
        var how = unsafe pawl_program(
            output: nil, passed: descriptor ?? -1, questions: pipes?.questions ?? -1, answers: pipes?.answers ?? -1)
        guard let output else { return unsafe pawl_spawn(&child, path, words, variables, &how) }
        return unsafe output.withCString { output in
            unsafe how.output = output
            return unsafe pawl_spawn(&child, path, words, variables, &how)
        }
    }

    /// Adds to `actions` of posix_spawn that all descriptors from `first` are closed.
    package static func closeDescriptors(from first: Int32, with actions: inout posix_spawn_file_actions_t) {
        unsafe pawl_spawn_close_from(&actions, first)
    }

    /// Runs a program and returns its exit code, 128 and more for a signal.
    package static func run(_ path: String, _ arguments: [String]) throws(Failure) -> Int32 {
        status(of: try start(path, [path] + arguments))
    }

    /// Waits for the end of a child.
    package static func status(of child: pid_t) -> Int32 {
        defer { attended.withLock { _ = $0.remove(child) } }
        var status: Int32 = 0
        guard retrying({ unsafe waitpid(child, &status, 0) }) >= 0 else { return 127 }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// Starts a program that nothing waits for.
    package static func startUnattended(_ path: String, _ arguments: [String]) throws(Failure) {
        let child = try start(path, arguments)
        // An ended child that is not waited for remains a zombie.
        SystemThread.detached("pawl-child", blocksSignals: true) { _ = status(of: child) }
    }
}

// The first process of a container inherits all processes whose parents have ended, and must reap them.
extension ChildProcess {
    /// Children that were started here, until they have been waited for.
    private static let attended = Mutex<Set<pid_t>>([])

    /// Reaps orphans as they end if this is the first process of its PID namespace.
    package static func reapOrphansIfFirst() {
        guard getpid() == 1 else { return }
        SystemThread.detached("pawl-reaper", blocksSignals: true) {
            while true {
                reapOrphans()
                SystemThread.sleep(seconds: 1)
            }
        }
    }

    /// Reaps ended children that were not started here.
    package static func reapOrphans() {
        attended.withLock { attended in
            while true {
                let child = pawl_ended_child()
                // One that is waited for is gone soon, and the others follow the next time.
                guard child > 0, !attended.contains(child) else { return }
                _ = waitpid(child, nil, WNOHANG)
            }
        }
    }
}
