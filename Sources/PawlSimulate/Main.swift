import Glibc
import PawlTestKit

/// `PawlSimulate SEEDS` runs so many worlds; `PawlSimulate --seed N` runs one and prints its log;
/// `PawlSimulate --sabotage NAME` looks for the first world in which a sabotage is noticed.
@main
enum Main {
    static func main() {
        exit(status(CommandLine.arguments.dropFirst().map { $0 }))
    }

    private static func status(_ arguments: [String]) -> Int32 {
        if arguments.count == 2, arguments[0] == "--seed", let seed = UInt64(arguments[1]) {
            return Campaign.repeatSeed(seed) ? 0 : 1
        }
        if arguments.count == 2, arguments[0] == "--sabotage",
            let sabotage = Sabotage(rawValue: arguments[1])
        {
            let seeds = (UInt64(0)..<20_000).lazy.filter { seed in
                Simulation.run(seed: seed, sabotage: sabotage).violations.contains { $0.law == sabotage.law }
            }
            let first = Array(seeds.prefix(1))
            print(first.isEmpty ? "nobody noticed" : "noticed in seed \(first[0])")
            return first.isEmpty ? 1 : 0
        }
        guard arguments.count == 1, let count = UInt64(arguments[0]), count > 0 else {
            print("usage: PawlSimulate SEEDS | PawlSimulate --seed SEED | PawlSimulate --sabotage NAME")
            return 2
        }
        return Campaign(seeds: 0..<count).run() ? 0 : 1
    }
}
