import PawlCore

extension Downloader {
    /// The media types of playlists.
    static let streamTypes: Set<String> = [
        "application/vnd.apple.mpegurl", "application/x-mpegurl", "audio/mpegurl", "audio/x-mpegurl",
        "application/dash+xml",
    ]
}

extension PawlError {
    /// Whether a download has ended because its content is a playlist.
    package var isOfStream: Bool { failure.isOfOtherType }
}
