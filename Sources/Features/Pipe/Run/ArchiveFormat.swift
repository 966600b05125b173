import Pawl
import PawlBase

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
    /// The trailer of a published archive, and where it begins; `nil` if it is no shard.
    func trailer(of file: any ShardFile) throws(Failure) -> (trailer: ShardTrailer, start: Int64)?
    /// Returns the offset of the content in the bytes that it writes; `nil` if they contain it in another
    /// form.
    func write(_ sample: ArchivedSample, _ content: SampleContent, to output: Output) throws(Failure) -> Int64?
    /// Writes the manifest, the trailer and the end of an archive that has `length` bytes.
    func end(_ manifest: SampleContent, input: String, after length: Int64, to output: Output) throws(Failure)
    /// Extracts the manifest from the bytes before the trailer.
    func manifest(in region: SampleContent) throws(Failure) -> SampleContent
}

extension ShardFile {
    /// The trailer that ends so many bytes before the end of the file.
    func trailer(distance: Int64) throws(Failure) -> (trailer: ShardTrailer, start: Int64)? {
        let start = length - distance - Int64(ShardTrailer.size)
        guard start >= 0 else { return nil }
        let bytes = try content(from: start, length: Int64(ShardTrailer.size)).bytes()
        return ShardTrailer(bytes).map { ($0, start) }
    }
}

extension Failure {
    static let damagedShard = Failure(.inputOutput, "cannot read", at: "the published shard", because: "it is damaged")
}
