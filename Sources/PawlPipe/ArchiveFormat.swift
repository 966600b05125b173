import Pawl
import PawlCore
import PawlDisk

/// A sample and its key in the archive.
struct ArchivedSample {
    var key: String
    var job: PipeJob
    var result: PipeResult
    var response: DownloadResponse?
    var requested: UnixTime?
}

/// The format of an archive of samples.
protocol ArchiveFormat: Sendable {
    typealias Output = ([UInt8]) throws(Failure) -> Void

    /// The first bytes of an archive.
    var beginning: [UInt8] { get }
    /// Whether it stores header fields.
    var usesResponses: Bool { get }
    /// The number of bytes after the trailer.
    var trailerDistance: Int64 { get }
    /// Returns the offset of the content in the bytes that it writes; `nil` if they contain it in another
    /// form.
    func write(
        _ sample: ArchivedSample,
        _ content: SampleContent,
        to output: Output
    ) throws(Failure) -> Int64?
    /// Writes the end of the archive, the manifest and the trailer.
    func end(_ manifest: SampleContent, input: String, to output: Output) throws(Failure)
    /// Extracts the manifest from the bytes before the trailer.
    func manifest(in region: SampleContent) throws(Failure) -> SampleContent
}
