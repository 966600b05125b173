package import Pawl
package import PawlBase
import PawlTerminal

/// What a stream has, a line or an object for each track.
package enum StreamLines {
    /// Prints the tracks of a stream, if the URL is one of a playlist; returns whether it is.
    package static func show(
        _ source: String, _ options: DownloadOptions, _ command: GetOptions
    ) throws(Failure) -> Bool {
        let downloader = Downloader(command.connections) { _ in }
        defer { downloader.shutDownAndWait() }
        do throws(PawlError) {
            guard let found = try downloader.tracks(of: source, options: options, stream: command.tracks) else {
                return false
            }
            for notice in found.notices { printNotice(notice) }
            for track in found.tracks {
                say((command.isJSON ? object(track, source) : TerminalText.harmless(line(track))) + "\n")
            }
            return true
        } catch { throw error.failure }
    }

    /// A star is before what is taken.
    private static func line(_ track: StreamTrackDescription) -> String {
        var parts = [track.kind]
        if let width = track.width, let height = track.height { parts.append("\(width)x\(height)") }
        if let rate = track.frameRate { parts.append("\(rate) frames/s") }
        if let bits = track.bandwidth { parts.append("\(bits / 1000) kbit/s") }
        parts += [track.language, track.name, track.codecs].compactMap(\.self)
        if let system = track.protection { parts.append("encrypted (\(system))") }
        return (track.isChosen ? "* " : "  ") + parts.joined(separator: ", ")
    }

    private static func object(_ track: StreamTrackDescription, _ source: String) -> String {
        var object = JSONObject()
        object.set("event", "track")
        object.set("url", Redaction.address(source))
        object.set("kind", track.kind)
        object.set("width", track.width)
        object.set("height", track.height)
        object.set("frameRate", track.frameRate)
        object.set("bandwidth", track.bandwidth)
        object.set("codecs", track.codecs)
        object.set("language", track.language)
        object.set("name", track.name)
        object.set("protection", track.protection)
        object.set("chosen", track.isChosen)
        return object.line
    }
}
