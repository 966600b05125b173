import Glibc
import PawlCommands

@main
struct Main {
    static func main() {
        exit(run(arguments: CommandLine.arguments))
    }
}
