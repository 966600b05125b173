import PawlBase
import PawlCollections
import Synchronization

/// `ID.jpg` and `ID.json` for each sample (WebDataset).
final class TarArchive: ArchiveFormat {
    /// The blocks of the latest `ID.json`: the manifest comes before the last member, which is known at the end only.
    private let last = Mutex<[UInt8]>([])

    var beginning: [UInt8] { [] }
    var usesResponses: Bool { false }

    func write(_ sample: ArchivedSample, _ content: SampleContent, to output: Output) throws(Failure) -> Int64? {
        let header = takeLast() + TarHeader.file(sample.result.key ?? sample.key, length: content.length)
        try output(header)
        try content.forEachPiece { (piece) throws(Failure) in try output(Array(piece)) }
        try output(TarHeader.padding(after: content.length))
        let fields = JSON.object(sample.job.members).utf8
        let member =
            TarHeader.file("\(sample.key).json", length: Int64(fields.count)) + fields
            + TarHeader.padding(after: Int64(fields.count))
        last.withLock { $0 = member }
        return Int64(header.count)
    }

    private func takeLast() -> [UInt8] {
        last.withLock { last in
            defer { last = [] }
            return last
        }
    }

    func end(_ manifest: SampleContent, input: String, after length: Int64, to output: Output) throws(Failure) {
        var length = length
        func write(_ bytes: [UInt8]) throws(Failure) {
            length += Int64(bytes.count)
            try output(bytes)
        }
        let start = length
        var writer = TarManifest.Writer()
        try manifest.forEachPiece { (piece) throws(Failure) in try write(writer.feed(piece)) }
        try write(writer.finish())
        try write(TarHeader.comment(ShardTrailer(input: input, length: length - start).bytes))
        let last = takeLast()
        try write(last.isEmpty ? TarHeader.folder(TarManifest.empty) : last)
        try write(TarHeader.end(after: length))
    }

    func trailer(of file: any ShardFile) throws(Failure) -> (trailer: ShardTrailer, start: Int64)? {
        // Pawl 0.2.0 wrote it behind the end of the archive.
        if let old = try file.trailer(distance: 0) { return old }
        let block = Int64(TarHeader.block)
        guard file.length % block == 0 else { return nil }
        for tail in Self.tails {
            let start = max(0, file.length - tail)
            let bytes = try file.content(from: start, length: file.length - start).bytes()
            if let found = TarManifest.trailer(in: bytes) { return (found.trailer, start + Int64(found.start)) }
            if start == 0 { break }
        }
        return nil
    }

    /// How much of the end is searched: the last member is a line of the input, rarely a long one.
    private static let tails: [Int64] = [64 << 10, 2 << 20, 96 << 20]

    func manifest(in region: SampleContent) throws(Failure) -> SampleContent {
        guard let manifest = TarManifest.manifest(in: try region.bytes()) else { throw .damagedShard }
        return SampleContent(bytes: manifest)
    }
}
