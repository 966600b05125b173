import Foundation
import Pawl

// A film plays in any player while it is still being downloaded: a small server gives the player each range that it wants,
// the index at the end and the place that a viewer jumps to first.
//
// usage: ExamplePlayer FOLDER URL     then: mpv http://127.0.0.1:PORT/

func say(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

@main struct Player {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3 else { return say("usage: ExamplePlayer FOLDER URL") }
        var configuration = Downloader.Configuration()
        configuration.options.folder = words[1]
        let downloader = Downloader(configuration)
        do {
            let download = try downloader.add(words[2])
            download.resume()
            let server = try FilmServer(download)
            say("http://127.0.0.1:\(server.port)/")
            let serving = Task { await server.run() }
            say("saved \(try await download.file.path)")
            await serving.value
        } catch let error as PawlError {
            say(error.description)
            exit(Int32(error.code.rawValue))
        }
    }
}

/// Serves one film on the loopback interface: GET and HEAD, whole or a range (RFC 9110 §14).
struct FilmServer: Sendable {
    let film: Download
    let socket: Int32
    let port: UInt16

    init(_ film: Download) throws {
        self.film = film
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(socket, name, length) == 0 && listen(socket, 16) == 0 && getsockname(socket, name, &length) == 0
            }
        }
        guard isBound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EADDRNOTAVAIL) }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Accepts connections until the program ends.
    func run() async {
        while let connection = await Connection(accepting: socket) {
            Task { await serve(connection) }
        }
    }

    /// One request; a player opens another connection for each place that it jumps to.
    func serve(_ connection: Connection) async {
        guard let request = await connection.request(), let total = await total() else { return }
        var range = 0..<total
        if let wanted = request.range {
            range = max(0, wanted.first ?? total - (wanted.last ?? 0))..<total
            if wanted.first != nil, let last = wanted.last {
                range = range.lowerBound..<min(total, max(last + 1, range.lowerBound))
            }
        }
        let isPart = request.range != nil
        let head = """
            HTTP/1.1 \(isPart ? "206 Partial Content" : "200 OK")\r
            Content-Length: \(range.count)\r
            Content-Type: \(film.snapshot.contentType ?? "application/octet-stream")\r
            Accept-Ranges: bytes\r
            \(isPart ? "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(total)\r\n" : "")\
            Connection: close\r\n\r\n
            """
        guard await connection.write(Array(head.utf8)), request.method == "GET" else { return }
        do {
            // Each chunk comes when it is there, and the rest of the film is downloaded meanwhile.
            for try await chunk in film.bytes(in: range) {
                guard await connection.write(chunk) else { return }
            }
        } catch { say("\(error)") }
    }

    /// The film's size, as soon as it is known.
    private func total() async -> Int64? {
        for await snapshot in film.updates { if let total = snapshot.total { return total } }
        return film.snapshot.total
    }
}

/// A connection of a player; its calls of the system block a queue of its own.
final class Connection: Sendable {
    private let socket: Int32
    private let queue = DispatchQueue(label: "connection")

    init?(accepting listener: Int32) async {
        socket = await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: accept(listener, nil, nil)) }
        }
        guard socket >= 0 else { return nil }
    }

    deinit { close(socket) }

    struct Request {
        var method: String
        var range: (first: Int64?, last: Int64?)?
    }

    /// Reads a header section of at most 16 KiB.
    func request() async -> Request? {
        let text = await blocking { socket -> String? in
            var bytes: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while bytes.count < 16 << 10 {
                let count = recv(socket, &buffer, buffer.count, 0)
                guard count > 0 else { return nil }
                bytes += buffer[..<count]
                let text = String(decoding: bytes, as: UTF8.self)
                if text.contains("\r\n\r\n") { return text }
            }
            return nil
        }
        guard let lines = text?.components(separatedBy: "\r\n"), let method = lines[0].split(separator: " ").first
        else {
            return nil
        }
        var request = Request(method: String(method))
        if let line = lines.first(where: { $0.lowercased().hasPrefix("range: bytes=") }) {
            let ends = line.dropFirst(13).split(separator: "-", omittingEmptySubsequences: false).map { Int64($0) }
            if ends.count == 2, ends[0] != nil || ends[1] != nil { request.range = (ends[0], ends[1]) }
        }
        return request
    }

    /// Writes all of the bytes; `false` when the player has closed the connection.
    func write(_ bytes: [UInt8]) async -> Bool {
        await blocking { socket in
            var sent = 0
            while sent < bytes.count {
                let count = bytes[sent...].withUnsafeBytes {
                    send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    private func blocking<Value: Sendable>(_ body: @escaping @Sendable (Int32) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            queue.async { [socket] in continuation.resume(returning: body(socket)) }
        }
    }
}
