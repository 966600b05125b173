import PawlBase
import PawlCollections
import PawlPipe

/// The lines of `pawl pipe`: every line has one result, and names from the input stay in the folder.
enum JobLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        var splitter = PipeLines(limit: 512)
        var lines = splitter.feed(bytes[..<(bytes.count / 2)]) + splitter.feed(bytes[(bytes.count / 2)...])
        if let last = splitter.finish() { lines.append(last) }
        var whole = PipeLines(limit: 512)
        let same = whole.feed(bytes[...]) + [whole.finish()].compactMap(\.self)
        try hold(lines == same, "the lines depend on how the input is cut")
        for line in lines {
            switch PipeJob.parse(line) {
            case .success(let job): try check(job)
            case .failure(let refusal): try check(PipeResult.line(of: refusal))
            }
            _ = PipeJob.parse(failed: line)
            if let bytes = line.bytes { _ = PipeResult.line(published: bytes) }
            try hold((0..<7).contains(HostPartition.number(of: line, among: 7)), "a worker that is not there")
        }
        _ = ShardTrailer(Array(bytes.suffix(ShardTrailer.size)))
        _ = TarManifest.trailer(
            in: bytes + [UInt8](repeating: 0, count: TarHeader.padding(after: Int64(bytes.count)).count))
        _ = TarManifest.manifest(in: bytes)
        try check(manifest: bytes)
        _ = StoredGzipWriter.content(of: bytes)
    }

    /// A manifest is read back from an archive, however it is cut.
    private static func check(manifest bytes: [UInt8]) throws(BrokenLaw) {
        guard bytes.first != UInt8(ascii: "{") else { return }
        var writer = TarManifest.Writer()
        let half = bytes.count / 2
        let headers = writer.feed(bytes[..<half]) + writer.feed(bytes[half...]) + writer.finish()
        try hold(TarManifest.manifest(in: headers) == bytes, "a manifest that is not read back")
        let trailer = ShardTrailer(input: String(repeating: "a", count: 64), length: Int64(headers.count))
        let archive = headers + TarHeader.comment(trailer.bytes) + TarHeader.folder(TarManifest.empty)
        let whole = archive + TarHeader.end(after: Int64(archive.count))
        let found = TarManifest.trailer(in: whole)
        try hold(found?.trailer == trailer && found?.start == headers.count, "a trailer that is not found")
    }

    private static func check(_ job: PipeJob) throws(BrokenLaw) {
        try check(PipeResult(.ok).line(of: job))
        let path = SampleName.path(of: job)
        try hold(SampleName.flaw(ofPath: path) == nil, "a path that leaves the folder: \(path)")
        let key = SampleName.key(of: job)
        try hold(!key.isEmpty && !key.contains(".") && !key.contains("/"), "a key that is split: \(key)")
    }

    private static func check(_ line: [UInt8]) throws(BrokenLaw) {
        try hold(!line.contains(UInt8(ascii: "\n")), "a result of two lines")
        try hold((try? JSON.parse(line)) != nil, "a result that is no JSON")
    }
}

/// robots.txt: any bytes are rules, and the same path gets the same result.
enum RobotsLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let rules = RobotsRules(parsing: input.rest())
        try hold(rules.allows("/robots.txt"), "robots.txt itself is refused")
        try hold(rules.allows("/a%7Eb?c") == rules.allows("/a~b?c"), "coded and plain octets differ")
        if let delay = rules.delay { try hold(delay >= .zero && delay <= .seconds(3600), "an absurd delay") }
    }
}
