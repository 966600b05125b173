import Glibc
import Pawl
import PawlCore
import PawlPipe
import PawlSystem

extension Command {
    static let pipe = Command(
        "pipe",
        "[options] <JOBS >RESULTS",
        summary: "fetch the samples of a dataset; a worker for batch engines",
        details: """
            Download the samples of a stream of jobs. A job is a line with a URL, or with a JSON object that has "url". Its \
            result is a line with a JSON object: status (ok, already, failed or refused), size, digest, name and type, and \
            all other fields of the job.
            The output is the only state: run the command again after a kill, or on two machines at once, and nothing is \
            stored twice or in part.
            """,
        taking: PipeOptions.table
    ) { (options, operands) throws(Failure) in
        if let operand = operands.first { throw .unexpected(operand, in: "pipe") }
        try options.check()
        var configuration = options.configuration
        if let path = options.retriedManifest {
            configuration.retriesFailed = true
            configuration.shard = ShardName.retrying(manifest: path, of: configuration.shard)
        }
        if let path = options.retriedManifest ?? options.inputFile, path != "-" {
            configuration.input = unsafe open(path, O_RDONLY | O_CLOEXEC)
            guard configuration.input >= 0 else {
                throw Failure(.cannotOpen, "cannot open", at: path, because: SystemError.last.text)
            }
        }
        let inbox = PipeInbox()
        // Once for running samples, once for aborting an upload.
        let longest = 2 * configuration.grace.seconds + 1
        // Before any other thread, so that the others inherit the signal mask.
        SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { _ in
            inbox.stop()
            // A request to a store that does not respond takes longer. What a kill leaves, a later run finds.
            SystemThread.detached("pawl-grace", blocksSignals: true) {
                SystemThread.sleep(seconds: longest)
                _exit(Int32(PawlError.Code.unfinished.rawValue))
            }
        }
        if let count = options.partitions { return try PartitionRun(count, configuration, inbox).run() }
        var run = try PipeRun(configuration, inbox)
        return try run.run()
    }
}
