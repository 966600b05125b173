import Glibc
import PawlTestKit

/// `PawlSimulate SEEDS` runs so many worlds, and a tenth as many of queues, of streams, of worlds that run twice and of collections;
/// `PawlSimulate SEEDS KIND` only so many of one kind (`Campaign.Kind`);
/// `PawlSimulate --seed N` (or `--queue-seed N`, `--stream-seed N`, `--agreement-seed N`, `--collection-seed N`) runs one and prints its log;
/// `PawlSimulate --long N FILE` runs N worlds, goes on where FILE says that an earlier run was interrupted, and prints what they covered;
/// `PawlSimulate --sabotages` breaks worlds on purpose and fails if the laws do not notice; `--sabotage NAME` does it in one way.
@main enum Main {
    static func main() { exit(status(CommandLine.arguments.dropFirst().map { $0 })) }

    private static func status(_ arguments: [String]) -> Int32 {
        let kinds: [String: Campaign.Kind] = [
            "--seed": .downloads, "--queue-seed": .queue, "--stream-seed": .stream, "--agreement-seed": .agreement,
            "--collection-seed": .collections,
        ]
        if arguments.count == 2, let kind = kinds[arguments[0]], let seed = UInt64(arguments[1]) {
            return Campaign.repeatSeed(seed, of: kind) ? 0 : 1
        }
        if arguments.count == 2, let count = UInt64(arguments[0]), let kind = Campaign.Kind(rawValue: arguments[1]) {
            return Campaign(kind, seeds: 0..<count).run() ? 0 : 1
        }
        if arguments == ["--sabotages"] { return Campaign.runSabotages() ? 0 : 1 }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = Sabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([sabotage], ofQueues: [], ofStreams: [], ofMirrors: []) ? 0 : 1
        }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = QueueSabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([], ofQueues: [sabotage], ofStreams: [], ofMirrors: []) ? 0 : 1
        }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = StreamSabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([], ofQueues: [], ofStreams: [sabotage], ofMirrors: []) ? 0 : 1
        }
        if arguments.count == 2, arguments[0] == "--sabotage", let sabotage = MirrorSabotage(rawValue: arguments[1]) {
            return Campaign.runSabotages([], ofQueues: [], ofStreams: [], ofMirrors: [sabotage]) ? 0 : 1
        }
        if arguments.count == 3, arguments[0] == "--long", let worlds = UInt64(arguments[1]) {
            return LongCampaign.run(worlds: worlds, at: arguments[2]) ? 0 : 1
        }
        guard arguments.count == 1, let count = UInt64(arguments[0]), count > 0 else {
            print(
                "usage: PawlSimulate SEEDS [KIND] | --seed SEED | --queue-seed SEED | --stream-seed SEED | --agreement-seed SEED | --collection-seed SEED | --long WORLDS FILE | --sabotages | --sabotage NAME"
            )
            return 2
        }
        let areDownloadsRight = Campaign(.downloads, seeds: 0..<count).run()
        let areQueuesRight = Campaign(.queue, seeds: 0..<max(1, count / 10)).run()
        let areStreamsRight = Campaign(.stream, seeds: 0..<max(1, count / 10)).run()
        let doPathsAgree = Campaign(.agreement, seeds: 0..<max(1, count / 10)).run()
        let areCollectionsRight = Campaign(.collections, seeds: 0..<max(1, count / 10)).run()
        return areDownloadsRight && areQueuesRight && areStreamsRight && doPathsAgree && areCollectionsRight ? 0 : 1
    }
}
