#if Features
import PawlBase
import PawlCore
import PawlDisk
import PawlEngine
import PawlJournal
import PawlStreams
import PawlSystem

/// Requests playlists, keys and segments as downloads into memory: with the stream's logins, proxies, retries and limits.
final class StreamRequests: Sendable {
    /// What was received, and from where.
    struct Content: Sendable {
        var bytes: [UInt8]
        /// Redirects followed.
        var address: WebAddress
        var contentType: String?
        /// How it came.
        var response: DownloadResponse?
        /// When it was sent, by the server's clock, else when it was received.
        var date = SystemClock().wallTime
        /// Whether nothing but the end of the connection tells that all bytes are there.
        var isUnproven = false
        /// The bytes, if they are too many for memory.
        private var spooled: SpooledFile?

        init(bytes: [UInt8], address: WebAddress, contentType: String?) {
            (self.bytes, self.address, self.contentType) = (bytes, address, contentType)
        }

        fileprivate func with(_ spooled: SpooledFile) -> Self {
            var content = self
            content.spooled = spooled
            return content
        }

        var body: SegmentBytes { spooled.map { .file($0, from: 0) } ?? .memory(bytes) }
    }

    typealias Completion = @Sendable (Result<Content, Failure>) -> Void

    private static let longestKey = 1 << 10
    /// The most bytes that are decoded, where a server has compressed them.
    private static let longestCoded = 48 << 20

    private let memory: any MemoryFetching
    private let options: DownloadOptions
    private let address: WebAddress
    /// Of the download's file.
    private let folder: String

    /// `source`: the given URL, with its user info.
    init(_ source: String, _ options: DownloadOptions, by memory: any MemoryFetching) throws(Failure) {
        let (address, credentials) = try WebAddress.parse(source)
        self.address = address
        self.memory = memory
        folder = options.folder
        var own = options
        (own.fileName, own.checksum, own.expectedLength, own.range) = (nil, nil, nil, nil)
        (own.mirrors, own.verification, own.existingFile) = ([], .off, .rename)
        (own.storesAttributes, own.connections, own.naming, own.folder) = (false, 1, .server, ".")
        if own.user == nil, let credentials { (own.user, own.password) = (credentials.user, credentials.password) }
        self.options = own
    }

    /// The address of the playlist as it was given.
    var source: WebAddress { address }

    /// Begins a request, and returns what stops it; `requiresTLS`: what named the target came over TLS.
    func fetch(
        _ target: WebAddress, range: ByteRange? = nil, mirrors: [WebAddress] = [], requiresTLS: Bool, limit: Int,
        completion: @escaping Completion
    ) -> @Sendable () -> Void {
        do throws(Failure) {
            let sink = MemorySink(limit: Int64(limit), digests: ContentDigest.digests)
            return try fetch(target, range, mirrors, requiresTLS, to: sink.destination) { outcome in
                completion(outcome.flatMap { Self.content($0, sink.bytes, target, limit) })
            }
        } catch {
            completion(.failure(error))
            return {}
        }
    }

    /// As ``fetch(_:range:mirrors:requiresTLS:limit:completion:)``, of a segment of any length.
    func fetchSegment(
        _ segment: StreamSegment, requiresTLS: Bool, completion: @escaping Completion
    ) -> @Sendable () -> Void {
        do throws(Failure) {
            let spool = SegmentSpool(in: folder)
            let target = segment.address
            return try fetch(target, segment.range, segment.mirrors, requiresTLS, to: spool.destination) { outcome in
                completion(
                    outcome.flatMap { file in
                        switch spool.content {
                        case .memory(let bytes): return Self.content(file, bytes, target, Self.longestCoded)
                        case .file(let spooled, _):
                            var content = Self.content(file, [], target, Self.longestCoded)
                            if case .success(let whole) = content, file.response?.coding == nil {
                                content = .success(whole.with(spooled))
                            }
                            return content
                        }
                    })
            }
        } catch {
            completion(.failure(error))
            return {}
        }
    }

    private func fetch(
        _ target: WebAddress, _ range: ByteRange?, _ mirrors: [WebAddress], _ requiresTLS: Bool,
        to destination: Destination, completion: @escaping @Sendable (Result<DownloadedFile, Failure>) -> Void
    ) throws(Failure) -> @Sendable () -> Void {
        let isRequired = (requiresTLS || address.scheme.isSecure) && !options.allowsDowngrade
        guard target.scheme.isSecure || !isRequired else {
            throw Failure(
                .insecure, "cannot fetch", at: target.redacted,
                because: "the playlist came over https, and this is not encrypted",
                remedy: "allow \(.option(.allowsDowngrade))")
        }
        let own = options(for: target, range, mirrors.filter { $0.scheme.isSecure || !isRequired })
        do throws(PawlError) {
            return try memory.fetch(target.text, own, to: destination) { completion($0.mapError(\.failure)) }
        } catch { throw error.failure }
    }

    func fetchKey(
        _ target: WebAddress, requiresTLS: Bool, completion: @escaping Completion
    ) -> @Sendable () -> Void {
        fetch(target, requiresTLS: requiresTLS, limit: Self.longestKey) { result in
            completion(
                result.flatMap { content in
                    guard content.bytes.count == 16 else {
                        return .failure(
                            Failure(
                                .badResponse, "cannot use the key", at: target.redacted,
                                because: "it has \(content.bytes.count) bytes instead of 16"))
                    }
                    return .success(content)
                })
        }
    }

    private static func content(
        _ file: DownloadedFile, _ bytes: [UInt8], _ target: WebAddress, _ limit: Int
    ) -> Result<Content, Failure> {
        let final = file.response.flatMap { try? WebAddress.parse($0.url).address } ?? target
        var content = Content(bytes: bytes, address: final, contentType: file.response?.contentType)
        content.response = file.response
        content.isUnproven = file.response?.hasNoEnd ?? false
        content.date = file.response?.date ?? content.date
        guard let coding = file.response?.coding else { return .success(content) }
        guard coding == "gzip" || coding == "x-gzip", let plain = Gzip.decompress(content.bytes, limit: limit)
        else {
            let why = "the server compressed it (\(Redaction.printable(coding))), and it cannot be decoded"
            return .failure(Failure(.badResponse, "cannot use", at: target.redacted, because: why))
        }
        content.bytes = plain
        return .success(content)
    }

    /// Logins, cookies and header fields stay with the playlist's origin; the user agent and the referrer go along.
    private func options(
        for target: WebAddress, _ range: ByteRange?, _ mirrors: [WebAddress]
    ) -> DownloadOptions {
        var own = options
        own.range = range.map { "\($0.start)-\($0.end - 1)" }
        own.mirrors = mirrors.map(\.text)
        let isForeign = ([target] + mirrors).contains { $0.origin != address.origin }
        guard isForeign else { return own }
        (own.user, own.password) = (nil, nil)
        own.headers = own.headers.filter { line in
            let name = line.utf8.prefix { $0 != UInt8(ascii: ":") }
            return ["accept", "accept-language", "origin", "referer", "user-agent"].contains {
                $0.utf8.elementsEqual(name.map(\.lowercased))
            }
        }
        return own
    }
}

extension DownloadResponse {
    /// Content-Encoding, unless it is none.
    fileprivate var coding: String? {
        let value = fields.last { $0.name.lowercased() == "content-encoding" }?.value.lowercased()
        return value == "identity" || value?.isEmpty == true ? nil : value
    }

    /// When it was sent, by the server's clock.
    var date: UnixTime? {
        fields.last { $0.name.lowercased() == "date" }.flatMap { UnixTime(httpDate: $0.value) }
    }

    /// Whether its body ends with its connection only (RFC 9112 §6.3).
    fileprivate var hasNoEnd: Bool {
        contentLength == nil && !fields.contains { $0.name.lowercased() == "transfer-encoding" }
    }
}
#endif
