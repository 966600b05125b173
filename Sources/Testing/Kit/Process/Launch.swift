import Glibc
import PawlSystem

/// One call of posix_spawn with its arguments.
struct Launch {
    var program: String
    var arguments: [String]
    var environment: [String]
    var out: Int32
    var err: Int32

    func run() throws(SetupFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        unsafe posix_spawn_file_actions_adddup2(&actions, out, 1)
        unsafe posix_spawn_file_actions_adddup2(&actions, err, 2)
        // A socket that a child inherits would never look closed to its peer.
        unsafe ChildProcess.closeDescriptors(from: ChildProcess.firstDescriptor, with: &actions)

        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe posix_spawnattr_setsigmask(&attributes, &signals)
        unsafe sigfillset(&signals)
        unsafe posix_spawnattr_setsigdefault(&attributes, &signals)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var identifier: pid_t = 0
        let code = unsafe Self.withStrings([program] + arguments) { arguments in
            unsafe Self.withStrings(environment) { environment in
                unsafe posix_spawn(&identifier, program, &actions, &attributes, arguments, environment)
            }
        }
        guard code == 0 else { throw SetupFailure("posix_spawn \(program)", code) }
        return identifier
    }

    private typealias Strings = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

    private static func withStrings<Result>(_ strings: [String], _ body: (Strings) -> Result) -> Result {
        var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
        defer { for index in unsafe pointers.indices { unsafe free(pointers[index]) } }
        return unsafe pointers.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { preconditionFailure("a list of strings ends with nil") }
            return unsafe body(base)
        }
    }
}
