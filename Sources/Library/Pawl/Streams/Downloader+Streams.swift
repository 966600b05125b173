#if Features
package import PawlBase
import PawlCore
import PawlEngine
import PawlJournal
import PawlStreams
import Synchronization

/// Which tracks of a stream are wanted, and what may be missing.
public struct StreamOptions: Sendable, Hashable {
    /// `best`, `worst`, a height such as `720p`, or a bitrate such as `2500k`.
    ///
    /// Without such a variant the next lower is taken. Default `best`.
    public var quality = "best"
    /// Languages of sound that is apart from the pictures, such as `en,de`; `all` or `none`.
    ///
    /// Default `nil`: what the stream's author prefers.
    public var audio: String?
    /// Languages of subtitles, such as `en,de`; `all`, or `none`, the default.
    public var subtitles = "none"
    /// Segments that may be missing: the file is complete without them, and a notice names each.
    ///
    /// Default 0: a segment that cannot be had is a failure.
    public var allowedGaps = 0
    /// `mp4` or `mkv`: the tracks are joined to one file of that form, by the program `ffmpeg`.
    ///
    /// Where that is not installed, or cannot join them, the files stay as they are, and a notice says why. Default `nil`: sound
    /// that is apart from the pictures is a file beside.
    public var remux: String?
    /// How long a programme is recorded that is still running, from now; at most a week.
    ///
    /// The recording is complete after that time, when the programme ends, and when the download is paused or its downloader
    /// shut down. Default `nil`: such a programme is refused. A ``DownloadManager`` takes no recordings.
    public var live: Duration?

    /// Creates options with all defaults.
    public init() {}

    /// The time of ``live`` as users write it: `90` or `90s`, `30m`, `2h`; `nil` for anything else.
    package static func time(parsing text: String) -> Duration? {
        LiveRecording.duration(parsing: text).map { .microseconds($0) }
    }

    var choice: StreamChoice {
        var choice = StreamChoice()
        choice.quality = StreamChoice.Quality(parsing: quality) ?? .best
        choice.audio = audio.flatMap(StreamChoice.Languages.init(parsing:)) ?? .usual
        choice.subtitles = StreamChoice.Languages(parsing: subtitles) ?? .none
        return choice
    }

    /// Throws code 28 for an invalid value.
    package func check() throws(Failure) {
        func bad(_ name: String, _ value: String, _ why: String) -> Failure {
            Failure(.badOption, "cannot use", at: "\(name) \(value)", because: why)
        }
        guard StreamChoice.Quality(parsing: quality) != nil else {
            throw bad("quality", quality, "must be best, worst, a height such as 720p, or a bitrate such as 2500k")
        }
        for (name, value) in [("audio", audio), ("subtitles", subtitles)] {
            guard let value, StreamChoice.Languages(parsing: value) == nil else { continue }
            throw bad(name, value, "must be languages such as en,de, all, or none")
        }
        if let remux, RemuxPlan.Container(rawValue: remux) == nil { throw bad("remux", remux, "must be mp4 or mkv") }
        if let live, !(1...LiveRecording.mostSeconds ~= live.components.seconds) {
            throw bad("live", "\(live.components.seconds) s", "must be 1 second to a week")
        }
        guard 0...100_000 ~= allowedGaps else { throw bad("allowed gaps", "\(allowedGaps)", "must be 0 to 100000") }
    }
}

extension Downloader {
    /// Adds a stream (HLS or DASH) as one download; nothing runs before ``Download/resume()``.
    ///
    /// `source` is the URL of a playlist or an MPD. Its segments are requested with the options of the download, joined in order, and the
    /// file gets its name when it has all of them. An interrupted download is continued behind the last segment that is on
    /// disk, also in another process. If the response is no playlist, the URL is downloaded as a file.
    ///
    /// Throws ``PawlError`` with code 28 when the URL or an option is invalid, and with ``PawlError/Code/unfinished`` after
    /// `shutDown()`.
    public func addStream(
        _ source: String, options: DownloadOptions? = nil, stream: StreamOptions = StreamOptions()
    ) throws(PawlError) -> Download { try addStream(source, options: options ?? self.options, stream: stream, to: nil) }

    /// As ``addStream(_:options:stream:)``; `target`: what gets the bytes, in order, instead of a file.
    package func addStream(
        _ source: String, options: DownloadOptions, stream: StreamOptions, to target: StreamTarget?
    ) throws(PawlError) -> Download {
        let job: Job
        do throws(Failure) {
            try stream.check()
            job = try Job(source: source, options: options, settingsCache: settingsCache)
        } catch { throw PawlError(error, of: source) }
        let address = job.plan.sources[0]
        // It never runs: the number and the progress are those of the stream.
        let (id, cell) = scheduler.add(job)
        let order = StreamWork.Order(
            source: source, address: address, origin: address.text, options: options, stream: stream,
            target: target, onNotice: { [board] in board.notice($0) })
        let run = SegmentedRun(order, cell, self)
        let download = Download(
            DownloadSnapshot(
                id: Download.ID(rawValue: id.rawValue), source: address.redacted,
                taskDescription: options.taskDescription), box: cell, owner: run)
        let redacted = address.redacted
        run.attach(download)
        guard board.add(download) else { throw .gone(redacted, "cannot add", because: "its downloader was shut down") }
        streams.withLock { $0[id.rawValue] = run }
        return download
    }

    /// Whether a URL names a playlist of a stream.
    package static func namesStream(_ source: String) -> Bool {
        guard let address = try? WebAddress.parse(source).address, address.scheme == .http || address.scheme == .https
        else { return false }
        let name = address.path.lowercased()
        return [".m3u8", ".mpd"].contains { name.utf8.suffix($0.utf8.count).elementsEqual($0.utf8) }
    }

    /// Downloads what turned out to be no playlist; its events are those of `outer`.
    func fetchAsFile(_ order: StreamWork.Order, for outer: Download) {
        do throws(PawlError) {
            let (source, options) = (order.source, order.options)
            let inner =
                if let target = order.target {
                    try add(source, options: options, to: target)
                } else { try add(source, options: options) }
            board.divert(inner) { [board] event in board.report(event.kind, of: outer) }
            inner.resume()
        } catch { board.report(.failed(error), of: outer) }
    }

    /// Stops streams, and returns when what they have is on disk.
    func stopStreams() {
        let runs = streams.withLock { streams in
            defer { streams = [:] }
            return Array(streams.values)
        }
        for run in runs { run.stop() }
    }
}
#endif
