import Foundation
import Pawl
import Synchronization

// One file whose signed address runs out again and again: the download goes on under the next one.
//
// usage: ExampleChangingAddress FOLDER URL...
//
// In an app the next address comes from the service that signs them; here it is the next argument.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

/// Stands for the service that signs addresses.
final class Signer: Sendable {
    private let addresses: Mutex<ArraySlice<String>>
    init(_ addresses: ArraySlice<String>) { self.addresses = Mutex(addresses) }
    func next() -> String? { addresses.withLock { $0.popFirst() } }
}

@main
struct ChangingAddress {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        let folder = arguments.popFirst()
        let signer = Signer(arguments)
        guard let folder, let first = signer.next() else {
            return say("usage: ExampleChangingAddress FOLDER URL...")
        }
        var configuration = DownloadManager.Configuration()
        configuration.refreshURL = { _, expired in
            say("\(expired) ran out")
            return signer.next()
        }
        let manager = try await DownloadManager(root: folder, configuration)
        var options = DownloadOptions()
        options.connections = 1
        options.retryDelay = 0.1
        let download = try await manager.add(first, options: options)
        do {
            let file = try await download.file
            say("whole: \(file.path), \(file.length) bytes")
        } catch {
            // Whatever came is kept: another address can still be given by hand, with replaceURL.
            say("\(error)")
        }
        await manager.shutDown()
    }
}
