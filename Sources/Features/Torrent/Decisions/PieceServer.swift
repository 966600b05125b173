package import PawlBase

/// Where a server of pieces (BEP 17) has the bytes of a file.
///
/// Its address is `httpseed://HASH-START-LENGTH-PIECE/URL`: the SHA-1 that names the torrent, where the file begins in it and how
/// long it is, the length of pieces, and the server.
package struct PieceServer: Hashable, Sendable {
    private let infoHash: [UInt8]
    private let start: Int64
    /// In bytes, of the file.
    package let length: Int64
    private let pieceLength: Int64
    package let url: WebAddress

    /// `nil` for numbers that belong to no torrent, and for a server of another protocol.
    package init?(infoHash: [UInt8], start: Int64, length: Int64, pieceLength: Int64, url: WebAddress) {
        guard infoHash.count == HashAlgorithm.sha1.length, [.http, .https].contains(url.scheme),
            (0...ByteRange.longestFile).contains(start), (0...ByteRange.longestFile).contains(length),
            (1...Torrent.longestPiece).contains(pieceLength)
        else { return nil }
        (self.infoHash, self.start, self.length, self.pieceLength) = (infoHash, start, length, pieceLength)
        self.url = url
        guard address != nil else { return nil }
    }

    /// That of no file: whether the server can be one.
    init?(url: WebAddress) {
        self.init(
            infoHash: [UInt8](repeating: 0, count: HashAlgorithm.sha1.length), start: 0, length: 0, pieceLength: 1,
            url: url)
    }

    package init?(_ address: WebAddress) {
        guard address.scheme == .located(.httpseed), let url = try? WebAddress.parse(address.key).address else {
            return nil
        }
        let parts = address.host.split(separator: "-", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { $0.utf8.decimalNumber }
        guard parts.count == 4, numbers.count == 3, let hash = Hexadecimal.bytes(String(parts[0])) else { return nil }
        self.init(infoHash: hash, start: numbers[0], length: numbers[1], pieceLength: numbers[2], url: url)
    }

    /// `nil` if its URL cannot be part of one.
    package var address: WebAddress? {
        try? .located(
            .httpseed, root: "\(Hexadecimal.text(infoHash))-\(start)-\(length)-\(pieceLength)", key: url.text)
    }

    /// Bytes that one request asks for: of one piece.
    package struct Part: Hashable, Sendable {
        /// In the file.
        package let range: ByteRange
        /// Where they begin in the piece.
        let offset: Int64
        package let url: WebAddress
    }

    /// The first part of the bytes from `position` to `end`; of no bytes, a byte beside them is asked for.
    package func part(from position: Int64, to end: Int64) -> Part {
        let asked = position < end ? start + position : max(0, start + position - 1)
        let (piece, offset) = asked.quotientAndRemainder(dividingBy: pieceLength)
        let range = ByteRange(position, min(end, position + pieceLength - offset))
        let count = max(1, range.count)
        var query = url.query.map { $0 + "&" } ?? ""
        query += "info_hash=" + infoHash.map { "%" + Hexadecimal.text([$0]) }.joined() + "&piece=\(piece)"
        if count < pieceLength { query += "&ranges=\(offset)-\(offset + count - 1)" }
        var request = url
        request.query = query
        return Part(range: range, offset: offset, url: request)
    }

    /// What a response to the request of a part means.
    package enum Answer: Hashable, Sendable {
        /// Its body has the bytes after so many others.
        case bytes(after: Int64)
        /// The body has the seconds to wait.
        case busy
        case redirect(WebAddress)
        case unusable(TransferFault)
        /// It is that of any server which refuses a request.
        case refusal
    }

    package func answer(_ head: ResponseHead, to part: Part) -> Answer {
        switch head.status {
        case 200, 206:
            guard head.contentEncoding == nil else { return .unusable(Self.otherLength) }
            // One of another length than asked for is of the whole piece.
            guard let length = head.contentLength, length != max(1, part.range.count) else { return .bytes(after: 0) }
            let isPiece = length >= part.offset + max(1, part.range.count) && length <= pieceLength
            return isPiece ? .bytes(after: part.offset) : .unusable(Self.otherLength)
        case 503: return .busy
        case 300..<400:
            guard let reference = head.location, !head.hasContradictoryLocation,
                let next = try? part.url.resolving(reference), next.scheme == .https || next.scheme == part.url.scheme,
                [.http, .https].contains(next.scheme)
            else { return .unusable(Self.redirect) }
            return .redirect(next)
        case _: return .refusal
        }
    }

    static let otherLength = TransferFault(
        .malformed, LocalizableMessage("piece-other-length", "the server does not send the bytes of the piece alone"))
    static let redirect = TransferFault(
        .malformed,
        LocalizableMessage("piece-redirect", "the server of pieces redirects to where no piece is asked for"))
    static let missing = TransferFault(
        .truncated, LocalizableMessage("piece-not-sent", "the server of pieces did not send the next piece"))

    /// The seconds to wait that the body of a busy server's response has; `nil` for another body.
    static func wait(_ body: [UInt8]) -> Int64? {
        body[...].trimmed { $0.isWhiteSpace || $0 == 0x0A || $0 == 0x0D }.decimalNumber
    }

    /// More of such a body is not read.
    static let longestWait = 32
}
