import Glibc
import PawlTestKit

/// `PawlSimulate SEEDS` runs so many worlds; `PawlSimulate --seed N` runs one and prints its log;
/// `PawlSimulate --sabotages` breaks worlds on purpose and fails if the laws do not notice.
@main
enum Main {
    static func main() {
        exit(status(CommandLine.arguments.dropFirst().map { $0 }))
    }

    private static func status(_ arguments: [String]) -> Int32 {
        if arguments.count == 2, arguments[0] == "--seed", let seed = UInt64(arguments[1]) {
            return Campaign.repeatSeed(seed) ? 0 : 1
        }
        if arguments == ["--sabotages"] { return Campaign.runSabotages() ? 0 : 1 }
        guard arguments.count == 1, let count = UInt64(arguments[0]), count > 0 else {
            print("usage: PawlSimulate SEEDS | PawlSimulate --seed SEED | PawlSimulate --sabotages")
            return 2
        }
        return Campaign(seeds: 0..<count).run() ? 0 : 1
    }
}
