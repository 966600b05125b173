import PawlCore
import PawlDisk

/// `ID.jpg` and `ID.json` for each sample (WebDataset).
struct TarArchive: ArchiveFormat {
    var beginning: [UInt8] { [] }
    var usesResponses: Bool { false }
    var trailerDistance: Int64 { 0 }

    func write(
        _ sample: ArchivedSample,
        _ content: SampleContent,
        to output: Output
    ) throws(Failure) -> Int64? {
        let header = TarHeader.file(sample.result.key ?? sample.key, length: content.length)
        try output(header)
        try content.forEachPiece { (piece) throws(Failure) in try output(Array(piece)) }
        let fields = JSON.object(sample.job.members).utf8
        try output(TarHeader.padding(after: content.length))
        try output(TarHeader.file("\(sample.key).json", length: Int64(fields.count)))
        try output(fields)
        try output(TarHeader.padding(after: Int64(fields.count)))
        return Int64(header.count)
    }

    func end(_ manifest: SampleContent, input: String, to output: Output) throws(Failure) {
        try output(TarHeader.end)
        try manifest.forEachPiece { (piece) throws(Failure) in try output(Array(piece)) }
        try output(ShardTrailer(input: input, length: manifest.length).bytes)
    }

    func manifest(in region: SampleContent) -> SampleContent { region }
}
