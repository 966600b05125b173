import CPawlSystem
package import Glibc
package import PawlCore

/// Starts programs without a shell.
package enum ChildProcess {
    /// The first descriptor after standard input, output and error.
    package static let firstDescriptor: Int32 = 3

    /// The environment is this process's with additions; signal dispositions are reset to their defaults.
    ///
    /// The program inherits standard input, output and error, and `descriptor` as the number `firstDescriptor`; nothing else that
    /// is open here. With `output`, a new file, its standard output goes there, and input and errors are /dev/null.
    package static func start(
        _ path: String,
        _ arguments: [String],
        environment additions: [String] = [],
        output: String? = nil,
        passing descriptor: Int32? = nil
    ) throws(Failure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        if let output {
            unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            unsafe posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT, 0o600)
            unsafe posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        }
        if let descriptor { unsafe posix_spawn_file_actions_adddup2(&actions, descriptor, firstDescriptor) }
        unsafe closeDescriptors(from: firstDescriptor + (descriptor == nil ? 0 : 1), with: &actions)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        var broken = sigset_t()
        unsafe sigemptyset(&broken)
        unsafe sigaddset(&broken, SIGPIPE)
        unsafe posix_spawnattr_setsigdefault(&attributes, &broken)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
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
        // Looks in PATH for a name without a slash.
        let number = unsafe posix_spawnp(&child, path, &actions, &attributes, &words, &all)
        guard number == 0 else {
            throw Failure(
                .cannotOpen,
                "cannot start",
                at: path,
                because: SystemError(number: number).text
            )
        }
        return child
    }

    /// Adds to `actions` of posix_spawn that all descriptors from `first` are closed.
    package static func closeDescriptors(
        from first: Int32,
        with actions: inout posix_spawn_file_actions_t
    ) {
        unsafe pawl_spawn_close_from(&actions, first)
    }

    /// Runs a program and returns its exit code, 128 and more for a signal.
    package static func run(_ path: String, _ arguments: [String]) throws(Failure) -> Int32 {
        status(of: try start(path, [path] + arguments))
    }

    /// Waits for the end of a child.
    package static func status(of child: pid_t) -> Int32 {
        var status: Int32 = 0
        while unsafe waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }
}
