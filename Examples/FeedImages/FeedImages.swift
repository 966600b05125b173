import Foundation
import Pawl

// The images of a feed in memory, each up to a limit; anything else, or larger, is left out.
//
// usage: ExampleFeedImages FEED-URL LIMIT
//
// Prints a line for each image: its size and its URL. Nothing is written to disk.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

/// The URLs of images that an RSS or Atom feed names.
func images(in feed: String) -> [String] {
    feed.matches(of: /<(?:enclosure|media:content|media:thumbnail)[^>]*\surl="([^"]+)"/).map {
        String($0.1).replacingOccurrences(of: "&amp;", with: "&")
    }
}

@main struct FeedImages {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let limit = Int(words[2]) else { return say("usage: ExampleFeedImages FEED-URL LIMIT") }
        let downloader = Downloader()
        let feed: [UInt8]
        do { feed = try await downloader.data(from: words[1], maximumSize: 4 << 20) } catch let error as PawlError {
            say("\(error)")
            exit(Int32(error.code.rawValue))
        }
        var hooks = DownloadHooks()
        hooks.validateResponse = { received in
            guard received.response.status < 400 else { return .allow }
            guard received.response.contentType?.hasPrefix("image/") == true else {
                return .cancel(reason: "it is not an image")
            }
            return .intoMemory(maximumSize: limit)
        }
        await withTaskGroup(of: String.self) { group in
            for url in images(in: String(decoding: feed, as: UTF8.self)) {
                group.addTask { [hooks] in
                    do {
                        let file = try await downloader.download(url, hooks: hooks)
                        return "\(ByteText.size(file.length)) \(url)"
                    } catch { return "left out \(url): \(error)" }
                }
            }
            for await line in group { say(line) }
        }
        await downloader.shutDown()
    }
}
