import Foundation
import Pawl

// Videos for offline use: every file name is derived from the URL, with progress over all videos. A programme in segments
// (HLS, DASH) becomes one file.
//
// usage: ExampleOfflineVideo FOLDER URL...
//
// The queue in FOLDER is persistent; a complete video is not downloaded again.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct OfflineVideo {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 2 else { return say("usage: ExampleOfflineVideo FOLDER URL...") }
        let videos = try await DownloadManager(root: arguments[1])
        let requests = arguments.dropFirst(2).map { url in
            var request = DownloadRequest(url)
            request.options.naming = .hash
            request.group = "videos"
            if [".m3u8", ".mpd"].contains(where: url.hasSuffix) {
                var stream = StreamOptions()
                stream.quality = "720p"
                request.stream = stream
            }
            return request
        }
        for result in try await videos.add(Array(requests)) { if case .failure(let error) = result { say("\(error)") } }
        try await watch(videos)
        for video in try await videos.downloads(by: .added(newestFirst: false)) {
            switch try await videos.location(of: video.id) {
            case .finished(let path): say("\(video.source) is \(path)")
            case .missing(let path): say("\(video.source) was \(path) and is missing")
            case .unfinished, .unknown: say("\(video.source) failed: \(video.error?.description ?? "?")")
            }
        }
        await videos.shutDown()
    }

    /// Prints the totals until all downloads have ended.
    static func watch(_ videos: DownloadManager) async throws {
        let left = DownloadFilter([.waiting])
        var last = ""
        while try await !videos.downloads(matching: left, limit: 1).isEmpty {
            let totals = try await videos.totals(matching: DownloadFilter(group: "videos"))
            let text = "\(totals.written) of \(totals.total) bytes in \(totals.count) videos"
            if text != last { say(text) }
            last = text
            try await Task.sleep(for: .milliseconds(100))
        }
        let totals = try await videos.totals(matching: DownloadFilter(group: "videos"))
        say("\(totals.written) of \(totals.total) bytes in \(totals.count) videos")
    }
}
