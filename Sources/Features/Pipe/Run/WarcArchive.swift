import Pawl
import PawlBase
import PawlSystem

/// A request and a response for each sample, each record a gzip member (WARC 1.1).
struct WarcArchive: ArchiveFormat {
    /// The start of the run.
    let date: UnixTime
    let headers: [String]
    let name: String

    private static let longestCompressed: Int64 = 4 << 20
    var usesResponses: Bool { true }

    /// After it are the end of the last record, and that of its gzip member.
    func trailer(of file: any ShardFile) throws(Failure) -> (trailer: ShardTrailer, start: Int64)? {
        try file.trailer(distance: Int64(WarcRecord.end.count) + 13)
    }

    var beginning: [UInt8] {
        let fields = Array("software: Pawl/\(PawlVersion.text)\r\nformat: WARC File Format 1.1\r\n".utf8)
        return Gzip.compress(record(.warcinfo, "info", fields))
    }

    func write(_ sample: ArchivedSample, _ content: SampleContent, to output: Output) throws(Failure) -> Int64? {
        let date = sample.requested ?? date
        let seed = "\(name)/\(sample.key)"
        let given = headers + sample.job.headers
        var address = sample.job.address
        if let url = sample.response?.url, let final = try? WebAddress.parse(url).address, final != address {
            address = final
            // A redirect may add secrets; the job's own query is in the manifest, too.
            if final.query != sample.job.address.query { address.query = nil }
        }
        let target = address.text
        var request = WarcRecord(.request, seed: seed + "/request", date: date)
        request.target = target
        request.partner = seed
        let requestBlock = WarcRecord.request(address, headers: given)
        try output(Gzip.compress(request.head(length: Int64(requestBlock.count)) + requestBlock + WarcRecord.end))
        var response = WarcRecord(.response, seed: seed, date: date)
        response.target = target
        response.payloadDigest = sample.result.sha256
        let head = WarcRecord.responseHead(
            status: sample.response?.status ?? 200, fields: sample.response?.fields.map { ($0.name, $0.value) } ?? [],
            length: content.length)
        let first = response.head(length: Int64(head.count) + content.length) + head
        if isText(sample.result.type), content.length <= Self.longestCompressed {
            try output(Gzip.compress(first + (try content.bytes()) + WarcRecord.end))
        } else {
            var stream = StoredGzipWriter()
            try output(StoredGzipWriter.header + stream.feed(first[...]))
            try content.forEachPiece { (piece) throws(Failure) in try output(stream.feed(piece)) }
            try output(stream.feed(WarcRecord.end[...]) + stream.finish())
        }
        return nil
    }

    func end(_ manifest: SampleContent, input: String, after start: Int64, to output: Output) throws(Failure) {
        var stream = StoredGzipWriter()
        var length: Int64 = 0
        func write(_ bytes: [UInt8]) throws(Failure) {
            length += Int64(bytes.count)
            try output(bytes)
        }
        let head = WarcRecord(.metadata, seed: name + "/manifest", date: date).head(length: manifest.length)
        try write(StoredGzipWriter.header + stream.feed(head[...]))
        try manifest.forEachPiece { (piece) throws(Failure) in try write(stream.feed(piece)) }
        try write(stream.feed(WarcRecord.end[...]) + stream.finish())
        var last = StoredGzipWriter()
        let lastHead = WarcRecord(.metadata, seed: name + "/end", date: date).head(length: Int64(ShardTrailer.size))
        // One block: its head is five bytes.
        let before = StoredGzipWriter.header.count + 5 + lastHead.count
        let trailer = ShardTrailer(input: input, length: length + Int64(before)).bytes
        let block = last.feed((lastHead + trailer + WarcRecord.end)[...])
        try output(StoredGzipWriter.header + block + last.finish())
    }

    func manifest(in region: SampleContent) throws(Failure) -> SampleContent {
        guard let record = StoredGzipWriter.content(of: try region.bytes()), let start = record.headerEnd,
            record.count - start >= WarcRecord.end.count
        else { throw .damagedShard }
        return SampleContent(bytes: Array(record[start..<(record.count - WarcRecord.end.count)]))
    }

    private func record(_ kind: WarcRecord.Kind, _ seed: String, _ block: [UInt8]) -> [UInt8] {
        WarcRecord(kind, seed: "\(name)/\(seed)", date: date).head(length: Int64(block.count)) + block + WarcRecord.end
    }

    private func isText(_ type: String?) -> Bool {
        guard let type else { return false }
        return type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
            || type == "application/javascript"
    }
}

extension [UInt8] {
    /// Where the block of a record begins.
    fileprivate var headerEnd: Int? {
        let end = Array("\r\n\r\n".utf8)
        return indices.first { self[$0...].starts(with: end) }.map { $0 + end.count }
    }
}
