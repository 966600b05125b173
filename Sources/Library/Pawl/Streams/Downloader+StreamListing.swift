#if Features
import PawlBase
import PawlStreams

/// A variant or track of a stream, as its playlist describes it.
package struct StreamTrackDescription: Sendable, Hashable {
    /// `video`, `audio` or `subtitles`.
    package var kind: String
    package var width: Int64?
    package var height: Int64?
    /// In a second, as stated.
    package var frameRate: String?
    /// In bits for each second.
    package var bandwidth: Int64?
    package var codecs: String?
    package var language: String?
    package var name: String?
    /// The system for digital rights that encrypts it.
    package var protection: String?
    /// Whether the options of the stream take it.
    package var isChosen: Bool

    fileprivate init(_ entry: StreamListing.Entry) {
        kind = "\(entry.content)"
        (width, height) = entry.height > 0 ? (entry.width, entry.height) : (nil, nil)
        bandwidth = entry.bandwidth > 0 ? entry.bandwidth : nil
        (frameRate, codecs, language, name) = (entry.frameRate, entry.codecs, entry.language, entry.name)
        (protection, isChosen) = (entry.protection, entry.isChosen)
    }
}

extension Downloader {
    /// The tracks of a stream, and what is taken instead of what was wanted; blocks while its playlist is on its way.
    ///
    /// `nil` if the URL is none of a stream.
    package func tracks(
        of source: String, options: DownloadOptions, stream: StreamOptions
    ) throws(PawlError) -> (tracks: [StreamTrackDescription], notices: [String])? {
        do throws(Failure) {
            try stream.check()
            let requests = try StreamRequests(source, options, by: DownloaderFetching(self))
            let reader = StreamReader(requests: requests, inbox: StreamInbox(), choice: stream.choice)
            do throws(StreamEnd) {
                let listing = try reader.listing()
                return (listing.entries.map { StreamTrackDescription($0) }, listing.notices)
            } catch {
                guard case .failed(let failure) = error else { return nil }
                throw failure
            }
        } catch { throw PawlError(error, of: source) }
    }
}
#endif
