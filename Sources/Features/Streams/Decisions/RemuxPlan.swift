/// The command by which `ffmpeg` joins the files of a stream into one, without changing what is in them.
package struct RemuxPlan: Hashable, Sendable {
    package enum Container: String, Hashable, Sendable, CaseIterable {
        case mp4, mkv

        fileprivate var muxer: String { self == .mp4 ? "mp4" : "matroska" }
        /// What its subtitles are.
        fileprivate var subtitles: String { self == .mp4 ? "mov_text" : "subrip" }
    }

    package struct Input: Hashable, Sendable {
        package var path: String
        package var content: StreamTrack.Content
        package var container: StreamTrack.Container?
        /// RFC 5646.
        package var language: String?

        package init(
            path: String, content: StreamTrack.Content, container: StreamTrack.Container?, language: String? = nil
        ) {
            (self.path, self.content, self.container, self.language) = (path, content, container, language)
        }
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
            words += ["-protocol_whitelist", "file"]
            switch input.container {
            case .transportStream: words += ["-f", "mpegts"]
            case .fragments: words += ["-f", "mov"]
            case .webVTT: words += ["-f", "webvtt"]
            case .packedAudio, .bytes, nil: words += ["-format_whitelist", Self.formats]
            }
            words += ["-i", "file:" + input.path]
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
