import Pawl
import PawlBase
import PawlHTTP

/// A job and its result so far.
struct PipeRecord: Sendable {
    /// Its index in the input, without blank lines.
    package var number: Int
    var job: Result<PipeJob, PipeJob.Refusal>
    var result: PipeResult
    /// The received content.
    var content: SampleContent?
    var response: Boxed<DownloadResponse>?
    /// When the content was requested, for an archive that states it.
    var requested: UnixTime?
    /// Whether an earlier run stored the file.
    var isThere = false
    /// The file of an earlier sample with this content.
    var copied: String?
    /// The bytes in memory that were counted for it while it waited.
    var held = 0
    /// Whether its content was requested for it.
    var isPrimary = false
    /// Whether the sink is only to look up if the job's file exists, before anything is requested.
    var isLookup = false

    /// The line of the result.
    func line() -> [UInt8] {
        switch job {
        case .success(let job): result.line(of: job)
        case .failure(let refusal): PipeResult.line(of: refusal)
        }
    }

    /// The lines with and without what differs between runs, each with its line feed.
    func lines() -> PipeResult.Lines {
        var lines: PipeResult.Lines
        switch job {
        case .success(let job): lines = result.lines(of: job)
        case .failure(let refusal):
            let line = PipeResult.line(of: refusal)
            lines = PipeResult.Lines(timed: line, reproducible: line)
        }
        lines.timed.append(UInt8(ascii: "\n"))
        lines.reproducible.append(UInt8(ascii: "\n"))
        return lines
    }
}
