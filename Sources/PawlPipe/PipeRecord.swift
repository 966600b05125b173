import Pawl
import PawlCore
import PawlDisk

/// A job and its result so far.
struct PipeRecord: Sendable {
    /// Its index in the input, without blank lines.
    var number: Int
    var job: Result<PipeJob, PipeJob.Refusal>
    var result: PipeResult
    /// The received content.
    var content: SampleContent?
    var response: DownloadResponse?
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
    func line(isTimed: Bool = true) -> [UInt8] {
        switch job {
        case .success(let job): result.line(of: job, isTimed: isTimed)
        case .failure(let refusal): PipeResult.line(of: refusal)
        }
    }
}
