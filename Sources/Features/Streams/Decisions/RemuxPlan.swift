import PawlBase

/// The command by which `ffmpeg` joins the files of a stream into one, without changing what is in them.
package struct RemuxPlan: Hashable, Sendable {
    package enum Container: String, Hashable, Sendable, CaseIterable {
        case mp4, mkv

        fileprivate var muxer: String { self == .mp4 ? "mp4" : "matroska" }
        /// What its subtitles are.
        fileprivate var subtitles: String { self == .mp4 ? "mov_text" : "subrip" }
    }

    package struct Input: Hashable, Sendable {
        /// The files that follow each other in time; one, unless its initialization changes.
        package var paths: [String]
        /// How much later than it the next one of several begins, in microseconds.
        package var durations: [Int64] = []
        /// How much later than the stream the first one of several begins, in microseconds.
        package var delay: Int64 = 0
        package var content: StreamTrack.Content
        package var container: StreamTrack.Container?
        /// RFC 5646.
        package var language: String?

        package init(
            path: String, content: StreamTrack.Content, container: StreamTrack.Container?, language: String? = nil
        ) {
            (paths, self.content, self.container, self.language) = ([path], content, container, language)
        }

        /// The list for ffmpeg's demuxer `concat`.
        fileprivate var list: String {
            zip(paths, durations).reduce(into: "ffconcat version 1.0\n") { list, file in
                list += "file 'file:\(file.0.replacing("'", with: "'\\''"))'\nduration \(RemuxPlan.seconds(file.1))\n"
            }
        }

        /// Whether an argument can have the list.
        fileprivate var isListable: Bool {
            list.utf8.count <= 90_000 && paths.allSatisfy { !$0.utf8.contains(.lineFeed) }
        }
    }

    /// A file of the stream.
    package struct Part: Hashable, Sendable {
        package var input: Input
        /// See ``StreamFile/part``.
        package var number = 0
        /// By the playlist, in microseconds.
        package var duration: Int64 = 0
        /// See ``StreamPart/timestampOffset``.
        package var timestampOffset: Int64 = 0

        package init(_ input: Input, of file: StreamFile) {
            self.input = input
            (number, duration, timestampOffset) = (file.part, file.duration, file.timestampOffset)
        }

        init(_ input: Input, number: Int, duration: Int64, timestampOffset: Int64 = 0) {
            self.input = input
            (self.number, self.duration, self.timestampOffset) = (number, duration, timestampOffset)
        }
    }

    /// No part is longer, in microseconds: 35 years.
    fileprivate static let longest: Int64 = 1 << 50

    fileprivate static func seconds(_ microseconds: Int64) -> String {
        let rest = String(microseconds % 1_000_000)
        return "\(microseconds / 1_000_000)." + String(repeating: "0", count: 6 - rest.utf8.count) + rest
    }

    /// What starts the program, if it is there: it ends with this process then, and gains no rights by what it runs.
    package static let keeper = ["setpriv", "--pdeathsig", "KILL", "--no-new-privs"]

    package var inputs: [Input]
    package var container: Container
    /// It is written anew.
    package var output: String

    package init(_ inputs: [Input], to output: String, as container: Container) {
        (self.inputs, self.output, self.container) = (inputs, output, container)
    }

    /// Formats that are recognized where it is not known what a file is: none of them leads to other files.
    private static let formats = "matroska,webm,mov,mp4,mpegts,aac,mp3,ac3,eac3,ogg,flac,wav"

    /// The arguments behind the program's name.
    package var arguments: [String] {
        var words = ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"]
        for input in inputs {
            if input.paths.count > 1 {
                if input.delay > 0 { words += ["-itsoffset", Self.seconds(input.delay)] }
                words += [
                    "-protocol_whitelist", "file,data", "-format_whitelist", "concat,mov", "-f", "concat", "-safe", "0",
                ]
                // Packets stay as they are: all files have the same codecs.
                words += ["-auto_convert", "0"]
                words += ["-i", "data:text/plain;base64," + Base64.encode(Array(input.list.utf8))]
                continue
            }
            words += ["-protocol_whitelist", "file"]
            switch input.container {
            case .transportStream: words += ["-f", "mpegts"]
            case .fragments: words += ["-f", "mov"]
            case .webVTT: words += ["-f", "webvtt"]
            case .packedAudio, .bytes, nil: words += ["-format_whitelist", Self.formats]
            }
            words += ["-i", "file:" + input.paths[0]]
        }
        for (index, input) in inputs.enumerated() {
            // Not the data of transport streams, such as timed ID3, for which there is no place.
            let kinds =
                switch input.content {
                case .video: ["v?", "a?"]
                case .audio: ["a"]
                case .subtitles: ["s"]
                }
            words += kinds.flatMap { ["-map", "\(index):\($0)"] }
        }
        words += ["-c", "copy"]
        if inputs.contains(where: { $0.content == .subtitles }) { words += ["-c:s", container.subtitles] }
        for (kind, letter) in [(StreamTrack.Content.audio, "a"), (.subtitles, "s")] {
            for (index, input) in inputs.filter({ $0.content == kind }).enumerated() {
                guard let language = input.language else { continue }
                words += ["-metadata:s:\(letter):\(index)", "language=" + LanguageCodes.long(language)]
            }
        }
        return words + ["-f", container.muxer, "file:" + output]
    }
}

extension [RemuxPlan.Input] {
    /// Those of the files of a stream in order, the parts of a track one behind the other.
    ///
    /// Throws why they cannot be: what they need to be played differs, or when they are played is not known.
    package init(_ files: [RemuxPlan.Part], times: (String) -> FragmentTimes?) throws(StreamFlaw) {
        var rows: [[RemuxPlan.Part]] = []
        for file in files {
            if file.number == 0 || rows.isEmpty { rows.append([file]) } else { rows[rows.count - 1].append(file) }
        }
        self = rows.map { row in
            var input = row[0].input
            input.paths = row.flatMap(\.input.paths)
            return input
        }
        guard let most = rows.map(\.count).max(), most > 1 else { return }
        // WebVTT has the times of the stream.
        let timed = indices.filter { self[$0].container != .webVTT }
        guard timed.allSatisfy({ self[$0].container == .fragments && self[$0].paths.count == most }) else {
            throw StreamFlaw("the initialization of one track changes where that of another does not")
        }
        var spans: [[(start: Int64, end: Int64)]] = []
        for index in timed {
            let found = self[index].paths.compactMap(times)
            guard found.count == most else { throw StreamFlaw("the times of a part cannot be read") }
            guard found.allSatisfy({ $0.forms == found[0].forms }) else {
                throw StreamFlaw("the codecs or the sizes change with the initialization")
            }
            spans.append(
                zip(found, rows[index]).map { times, part in
                    (times.start.addingClamped(part.timestampOffset), times.end.addingClamped(part.timestampOffset))
                })
        }
        // Tracks of a part keep their distance; the next one begins when all of them have ended.
        var begins = [[Int64]](repeating: [], count: timed.count)
        var total: Int64 = 0
        for part in 0..<most {
            let zero = spans.map { $0[part].start }.min() ?? 0
            let (length, overflow) = (spans.map { $0[part].end }.max() ?? 0).subtractingReportingOverflow(zero)
            guard !overflow, length < RemuxPlan.longest else {
                throw StreamFlaw("the times of its tracks are too far apart")
            }
            for row in spans.indices { begins[row].append(total + (spans[row][part].start - zero)) }
            total += Swift.max(length, Swift.min(rows[timed[0]][part].duration, RemuxPlan.longest))
        }
        for (row, index) in timed.enumerated() {
            self[index].delay = begins[row][0]
            self[index].durations = zip(begins[row], begins[row].dropFirst() + [total]).map { $1 - $0 }
            guard self[index].isListable else { throw StreamFlaw("there are too many parts") }
        }
    }
}
