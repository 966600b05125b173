import Foundation
import Pawl
import Synchronization

// One file whose signed URL expires repeatedly: the download resumes from the next one.
//
// usage: ExampleChangingAddress FOLDER URL...
//
// In an app the next URL comes from the service that signs them; here it is the next argument.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

/// A stand-in for the service that signs URLs.
final class Signer: Sendable {
    private let addresses: Mutex<ArraySlice<String>>
    init(_ addresses: ArraySlice<String>) { self.addresses = Mutex(addresses) }
    func next() -> String? { addresses.withLock { $0.popFirst() } }
}

@main struct ChangingAddress {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        let folder = arguments.popFirst()
        let signer = Signer(arguments)
        guard let folder, let first = signer.next() else { return say("usage: ExampleChangingAddress FOLDER URL...") }
        var configuration = DownloadManager.Configuration()
        configuration.refreshURL = { _, expired in
            say("\(expired) expired")
            return signer.next()
        }
        let manager = try await DownloadManager(root: folder, configuration)
        var options = DownloadOptions()
        options.connections = 1
        options.retryDelay = .milliseconds(100)
        let download = try await manager.add(first, options: options)
        do {
            let file = try await download.file
            say("complete: \(file.path), \(file.length) bytes")
        } catch {
            // The received data is kept: replaceURL can still set another URL.
            say("\(error)")
        }
        await manager.shutDown()
    }
}
