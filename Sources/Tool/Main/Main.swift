import Glibc
import PawlCommands

@main struct Main {
    static func main() {
        occupyStandardStreams()
        // Not exit(): its handlers unload libcrypto, which the thread of an ending loop may still use.
        _exit(run(arguments: arguments))
    }

    /// The bytes of the arguments, of which the runtime's strings show U+FFFD where they are not UTF-8.
    private static var arguments: [[UInt8]] {
        (0..<Int(CommandLine.argc)).compactMap { index in
            unsafe CommandLine.unsafeArgv[index].map { argument in
                unsafe Array(UnsafeRawBufferPointer(start: argument, count: strlen(argument)))
            }
        }
    }

    /// Keeps the numbers of closed standard streams from files that are opened later, into which output would go.
    private static func occupyStandardStreams() {
        for stream in STDIN_FILENO...STDERR_FILENO where fcntl(stream, F_GETFD) < 0 {
            // The lowest free number is used. Reading or writing fails there, as it should.
            _ = unsafe open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
