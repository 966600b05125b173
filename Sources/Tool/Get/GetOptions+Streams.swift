import Pawl
import PawlBase
import PawlTerminal

extension GetOptions {
    /// The options of URLs that name a playlist.
    static let streams: [CommandOption<GetOptions>] = [
        CommandOption(
            "quality", takes: .required("QUALITY"), in: .sources,
            "for playlists (.m3u8, .mpd): best, worst, a height such as 720p, or a bitrate such as 2500k; without such a"
                + " variant the next lower", standard: "best", setsOneDownload: false
        ) { (options, value) throws(Failure) in try options.set("quality", value) { $0.quality = value } },
        CommandOption(
            "audio", takes: .required("LANG,…|all|none"), in: .sources,
            "for playlists: languages of sound that is apart from the pictures", setsOneDownload: false
        ) { (options, value) throws(Failure) in try options.set("audio", value) { $0.audio = value } },
        CommandOption(
            "subtitles", takes: .required("LANG,…|all|none"), in: .sources, "for playlists: languages of subtitles",
            standard: "none", setsOneDownload: false
        ) { (options, value) throws(Failure) in try options.set("subtitles", value) { $0.subtitles = value } },
        CommandOption(
            "allow-gaps", takes: .required("N"), in: .sources,
            "for playlists: finish although up to N segments cannot be had; each is reported", standard: "0",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in
            options.tracks.allowedGaps = try OptionValues.integer("allow-gaps", value, in: 0...100_000)
        },
        CommandOption(
            "remux", takes: .required("mp4|mkv"), in: .sources,
            "for playlists: join the tracks to one file of that form, by the program ffmpeg if it is installed",
            setsOneDownload: false
        ) { (options, value) throws(Failure) in try options.set("remux", value) { $0.remux = value } },
        CommandOption(
            "live", takes: .required("TIME"), in: .sources,
            "for playlists: record a programme that is still running, from now, for 90 seconds (90), minutes (30m) or hours"
                + " (2h); SIGINT and SIGTERM end the recording, which is complete so far", setsOneDownload: false
        ) { (options, value) throws(Failure) in
            guard let time = StreamOptions.time(parsing: value) else {
                throw OptionValues.bad("live", value, "must be a time such as 90, 30m or 2h, at most a week")
            }
            options.tracks.live = time
        },
        CommandOption(
            "as-file", takes: .none, in: .sources, "download a playlist itself, not what it lists",
            setsOneDownload: false
        ) { (options, _) in options.keepsPlaylists = true },
    ]

    private mutating func set(
        _ option: String, _ value: String, _ change: (inout StreamOptions) -> Void
    ) throws(Failure) {
        change(&tracks)
        do throws(Failure) { try tracks.check() } catch { throw OptionValues.bad(option, value, error.why) }
    }
}
