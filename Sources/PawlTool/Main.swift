import Glibc
import PawlCommands

@main
struct Main {
    static func main() {
        // Not exit(): its handlers take libcrypto down, and a loop's thread that is just ending would still use it.
        _exit(run(arguments: CommandLine.arguments))
    }
}
