import Glibc
import PawlCommands

@main
struct Main {
    static func main() {
        // Not exit(): its handlers unload libcrypto, which the thread of an ending loop may still use.
        _exit(run(arguments: CommandLine.arguments))
    }
}
