import Pawl
import PawlBase
import PawlSystem

/// The shard of a run: a new or an existing one.
final class ShardRun: Sendable {
    let name: ShardName
    let archive: any ArchiveFormat
    let place: any ShardPlace
    let published: PublishedShard?
    /// The writer of a new shard; `nil` if the shard exists.
    let sink: ShardSink?

    /// `nil` for a format without shards.
    init?(
        _ configuration: PipeConfiguration, _ format: PipeConfiguration.Format, _ place: any ShardPlace
    ) throws(Failure) {
        guard let stem = configuration.shard else { return nil }
        switch format {
        case .files, .none: return nil
        case .tar:
            name = ShardName(stem, ending: "tar")
            archive = TarArchive()
        case .warc:
            name = ShardName(stem, ending: "warc.gz")
            let agent = configuration.download.userAgent ?? "Pawl/\(PawlVersion.text)"
            archive = WarcArchive(
                date: SystemClock().wallTime, headers: ["User-Agent: \(agent)"] + configuration.download.headers,
                name: stem)
        }
        self.place = place
        published = try PublishedShard(name, archive, in: place)
        sink = published == nil ? try ShardSink(name, archive, in: place) : nil
    }
}

extension PipeRun {
    /// All samples are in the archive.
    mutating func publish(_ shard: ShardRun) throws(Failure) -> Int32 {
        guard let sink = shard.sink else { preconditionFailure("a shard is made when none is there") }
        let input = inputDigest.finish()
        let results = try sink.publish(input: input)
        isPublished = true
        if let results { return try print(results, exitCode: Int32(exitCode)) { $0 } }
        // Another process published it first.
        guard let published = try PublishedShard(shard.name, shard.archive, in: shard.place) else {
            throw Failure(
                .inputOutput, "cannot publish", at: shard.place.path(of: shard.name.archive),
                because: "another file of that name was there and has been removed", remedy: "run it again")
        }
        return try print(published, input: input, shard)
    }

    /// The shard exists: no sample is downloaded if it was made from the same jobs.
    mutating func confirm(_ published: PublishedShard, _ shard: ShardRun) throws(Failure) -> Int32 {
        var isEmpty = true
        while !input.isExhausted {
            for message in input.wait(until: nil, wantsLines: true) { hear(message) }
            if let failure { throw failure }
            if stopDeadline != nil { return Int32(PawlError.Code.unfinished.rawValue) }
            while let line = input.nextLine() {
                if configuration.retriesFailed, PipeJob.parse(failed: line) == nil { continue }
                feed(line)
                isEmpty = false
            }
        }
        for message in input.wait(until: clock.now, wantsLines: false) { hear(message) }
        if let failure { throw failure }
        if isEmpty, retriesNothing { return 0 }
        let input = inputDigest.finish()
        return try print(published, input: input, shard)
    }

    /// Whether the input is a manifest, which lists no failed sample; says so.
    var retriesNothing: Bool {
        guard configuration.retriesFailed else { return false }
        reporter.note("the manifest lists no failed sample: nothing to retry, and nothing is published")
        return true
    }

    /// Adds a line to the digest of the jobs.
    mutating func feed(_ line: PipeLines.Line) {
        inputDigest.feed(line.bytes ?? [0])
        inputDigest.feed([UInt8(ascii: "\n")])
    }

    private mutating func print(_ published: PublishedShard, input: String, _ shard: ShardRun) throws(Failure) -> Int32
    {
        let manifest = try published.confirm(input: input, shard.name, in: shard.place)
        return try print(manifest, exitCode: 0) { PipeResult.line(published: $0) }
    }

    private mutating func print(
        _ lines: SampleContent, exitCode: Int32, _ change: ([UInt8]) -> [UInt8]
    ) throws(Failure) -> Int32 {
        var splitter = PipeLines(limit: .max)
        try lines.forEachPiece { (piece) throws(Failure) in
            for line in splitter.feed(piece) { if let bytes = line.bytes { output.append(change(bytes)) } }
            // The manifest has all results, so a reader that is too slow loses nothing.
            while !output.hasRoom, stopDeadline == nil {
                for message in input.wait(until: clock.now + .seconds(1), wantsLines: false) { hear(message) }
                if let failure { throw failure }
            }
        }
        try drainOutput()
        return stopDeadline == nil ? exitCode : Int32(PawlError.Code.unfinished.rawValue)
    }

    /// Puts a record in order: it waits for those before it, on disk if it is large.
    mutating func line(up record: PipeRecord) {
        var record = record
        if let content = record.content, record.number != ordered.next {
            // Open files are a scarce resource: content in files is moved to the store.
            if content.isInFile || heldBytes + content.memory > Self.longestHeld {
                do throws(Failure) { record.content = try store?.keep(content) } catch {
                    failure = failure ?? error
                    return
                }
            } else {
                record.held = content.memory
                heldBytes += content.memory
            }
        }
        let due = ordered.put(record, at: record.number)
        for record in due { heldBytes -= record.held }
        if !due.isEmpty { sink.store(due) }
    }

    private static var longestHeld: Int { 4 << 20 }
}
