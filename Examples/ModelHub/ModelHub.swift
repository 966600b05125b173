import Foundation
import Pawl

// Files of a model hub in a cache folder: fetched once, continued after a kill, each checked against its digest.
//
// usage: ExampleModelHub CACHE HUB MODEL REVISION FILE=SHA256...
//
// A hub serves HUB/MODEL/resolve/REVISION/FILE and redirects to where the content is. With HUB_TOKEN in the environment
// its requests, and not those to the redirect's target, carry it.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct ModelHub {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count > 5 else { return say("usage: ExampleModelHub CACHE HUB MODEL REVISION FILE=SHA256...") }
        let (hub, model, revision) = (words[2], words[3], words[4])
        let token = ProcessInfo.processInfo.environment["HUB_TOKEN"]
        var configuration = DownloadManager.Configuration()
        configuration.hooks.adaptRequest = { request in
            var request = request
            if let token, request.url.hasPrefix(hub + "/") { request.set("Authorization", to: "Bearer \(token)") }
            return request
        }
        let cache = try await DownloadManager(root: words[1], configuration)
        let group = "\(model)@\(revision)"
        var files: [Download] = []
        var failures = 0
        for word in words.dropFirst(5) {
            // FILE may be in a folder of the model: onnx/model.onnx.
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let path = parts[0].split(separator: "/").map(String.init)
            var request = DownloadRequest("\(hub)/\(model)/resolve/\(revision)/\(parts[0])")
            request.group = group
            request.options.folder = ([model, revision] + path.dropLast()).joined(separator: "/")
            request.options.fileName = path.last
            request.options.checksum = "sha-256=\(parts.count == 2 ? parts[1] : "")"
            do {
                // A known file is continued, and a finished one is left as it is.
                files.append(try await cache.add(request))
            } catch {
                failures += 1
                say("\(error)")
            }
        }
        for download in files {
            do { say("complete: \(try await download.file.path)") } catch {
                failures += 1
                say("\(error)")
            }
        }
        let totals = try await cache.totals(matching: DownloadFilter(group: group))
        say("\(totals.count) files, \(ByteText.size(totals.written))")
        await cache.shutDown()
        exit(failures == 0 ? 0 : 1)
    }
}
