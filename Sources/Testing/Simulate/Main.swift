import Glibc
import PawlTestKit

/// `PawlSimulate SEEDS` runs so many worlds, and a tenth as many of queues and of worlds that run twice; `PawlSimulate --seed N` (or
/// `--queue-seed N`, `--agreement-seed N`) runs one and prints its log;
/// `PawlSimulate --sabotages` breaks worlds on purpose and fails if the laws do not notice; `--sabotage NAME` does it in one way.
@main enum Main {
    static func main() { exit(status(CommandLine.arguments.dropFirst().map { $0 })) }

    private static func status(_ arguments: [String]) -> Int32 {
        let kinds: [String: Campaign.Kind] = [
            "--seed": .downloads, "--queue-seed": .queue, "--agreement-seed": .agreement,
        ]
        if arguments.count == 2, let kind = kinds[arguments[0]], let seed = UInt64(arguments[1]) {
            return Campaign.repeatSeed(seed, of: kind) ? 0 : 1
        }
        if arguments == ["--sabotages"] { return Campaign.runSabotages() ? 0 : 1 }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = Sabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([sabotage], ofQueues: []) ? 0 : 1
        }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = QueueSabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([], ofQueues: [sabotage]) ? 0 : 1
        }
        guard arguments.count == 1, let count = UInt64(arguments[0]), count > 0 else {
            print(
                "usage: PawlSimulate SEEDS | --seed SEED | --queue-seed SEED | --agreement-seed SEED | --sabotages | --sabotage NAME"
            )
            return 2
        }
        let areDownloadsRight = Campaign(.downloads, seeds: 0..<count).run()
        let areQueuesRight = Campaign(.queue, seeds: 0..<max(1, count / 10)).run()
        let doPathsAgree = Campaign(.agreement, seeds: 0..<max(1, count / 10)).run()
        return areDownloadsRight && areQueuesRight && doPathsAgree ? 0 : 1
    }
}
