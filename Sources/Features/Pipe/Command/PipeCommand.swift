import Glibc
import Pawl
import PawlBase
import PawlSystem
package import PawlTerminal

extension Command {
    package static let pipe = Command(
        "pipe", "[options] <JOBS >RESULTS", summary: "fetch the samples of a dataset; a worker for batch engines",
        details: """
            Download the samples of a stream of jobs. A job is a line with a URL, or with a JSON object that has "url". Its \
            result is a line with a JSON object: status (ok, already, failed or refused), size, digest, name and type, and \
            all other fields of the job.
            The output is the only state: run the command again after a kill, or on two machines at once, and nothing is \
            stored twice or in part.
            """, taking: PipeOptions.table
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
                throw Failure(
                    .cannotOpen, "cannot open", at: path, because: SystemError.last.message,
                    remedy: "check the path and its permissions")
            }
        }
        var found = stat()
        if unsafe fstat(configuration.input, &found) == 0, found.st_mode & S_IFMT == S_IFREG {
            configuration.inputLength = Int64(found.st_size)
        }
        let inbox = PipeInbox()
        if let count = options.partitions {
            var run = PartitionRun(count, configuration, inbox)
            SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { _ in inbox.post(.stop) }
            return explained(try run.run(), "the output lacks some of the lines")
        }
        // May wait for a store, which a signal ends at once.
        var run = try PipeRun(configuration, inbox)
        // Once for running samples, once for aborting an upload.
        let longest = 2 * configuration.grace.seconds + 1
        SignalWatch.start(hasDisplay: false, cursor: CursorGuard()) { _ in
            inbox.post(.stop)
            // A request to a store that does not respond takes longer. What a kill leaves, a later run finds.
            SystemThread.detached("pawl-grace", blocksSignals: true) {
                SystemThread.sleep(seconds: longest)
                _exit(explained(Int32(PawlError.Code.unfinished.rawValue)))
            }
        }
        return explained(try run.run())
    }
}

/// Prints why a run ends with this exit code, if a signal ended it.
private func explained(_ code: Int32, _ what: String = "some jobs have no result") -> Int32 {
    guard code == PawlError.Code.unfinished.rawValue else { return code }
    printNotice("interrupted: \(what); run the same command again")
    return code
}
