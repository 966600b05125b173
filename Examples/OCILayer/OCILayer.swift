import Foundation
import Pawl

// A layer of a container image by its digest, as a container engine pulls it (OCI distribution specification).
//
// usage: ExampleOCILayer FOLDER REGISTRY NAME SHA256
//
// REGISTRY is a URL such as https://registry.example. A registry that responds with 401 and a Bearer challenge names the service
// that issues a token; the token is fetched and the request is repeated.

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

/// The parameters of a challenge: `Bearer realm="…",service="…",scope="…"`.
func parameters(of challenge: String) -> [String: String] {
    var found: [String: String] = [:]
    for match in challenge.matches(of: /([A-Za-z]+)="([^"]*)"/) {
        found[String(match.1).lowercased()] = String(match.2)
    }
    return found
}

/// A token for the challenge; anonymous pulls need no login.
func token(for challenge: String, _ downloader: Downloader) async throws -> String? {
    let values = parameters(of: challenge)
    guard let realm = values["realm"], var url = URLComponents(string: realm) else { return nil }
    url.queryItems = ["service", "scope"].compactMap { name in values[name].map { URLQueryItem(name: name, value: $0) }
    }
    guard let address = url.string else { return nil }
    struct Response: Decodable {
        var token: String?
        var accessToken: String?
    }
    let data = Data(try await downloader.data(from: address, maximumSize: 1 << 20))
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    let response = try decoder.decode(Response.self, from: data)
    return response.token ?? response.accessToken
}

@main struct OCILayer {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 5 else { return say("usage: ExampleOCILayer FOLDER REGISTRY NAME SHA256") }
        let (registry, name, digest) = (words[2], words[3], words[4])
        let tokens = Downloader()
        var configuration = Downloader.Configuration()
        configuration.hooks.authenticate = { challenge in
            guard challenge.previousFailures == 0, let field = challenge.response?.value(of: "WWW-Authenticate"),
                let token = try? await token(for: field, tokens)
            else { return .useDefault }
            return .authorization("Bearer \(token)")
        }
        let downloader = Downloader(configuration)
        var options = DownloadOptions()
        options.folder = "\(words[1])/blobs/sha256"
        options.fileName = digest
        // The same layer of another image is there already.
        options.existingFile = .skip
        options.checksum = "sha-256=\(digest)"
        do {
            let url = "\(registry)/v2/\(name)/blobs/sha256:\(digest)"
            let file = try await downloader.download(url, options: options)
            say("\(file.wasThere ? "already there" : "complete"): \(file.path)")
        } catch let error as PawlError {
            say("\(error)")
            downloader.shutDown()
            exit(Int32(error.code.rawValue))
        }
        downloader.shutDown()
        tokens.shutDown()
    }
}
