package import PawlBase

/// The header of a record in a WARC 1.1 archive (ISO 28500:2017).
package struct WarcRecord: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable { case warcinfo, request, response, metadata }

    package var kind: Kind
    /// The input of the record's identifier, which makes it reproducible.
    package var seed: String
    package var date: UnixTime
    package var target: String?
    /// The seed of the record that WARC-Concurrent-To refers to.
    package var partner: String?
    /// SHA-256 of the payload, in hexadecimal.
    package var payloadDigest: String?

    package init(_ kind: Kind, seed: String, date: UnixTime) {
        self.kind = kind
        self.seed = seed
        self.date = date
    }

    /// Each record ends with two line breaks.
    package static let end = Array("\r\n\r\n".utf8)

    /// The header before a block of that many bytes.
    package func head(length: Int64) -> [UInt8] {
        var lines = [
            "WARC/1.1", "WARC-Type: \(kind.rawValue)", "WARC-Record-ID: \(Self.identifier(seed))",
            "WARC-Date: \(Self.text(of: date))",
        ]
        if let target { lines.append("WARC-Target-URI: \(target)") }
        if let partner { lines.append("WARC-Concurrent-To: \(Self.identifier(partner))") }
        if let payloadDigest { lines.append("WARC-Payload-Digest: sha256:\(payloadDigest)") }
        let type =
            switch kind {
            case .warcinfo: "application/warc-fields"
            case .request: "application/http; msgtype=request"
            case .response: "application/http; msgtype=response"
            case .metadata: "application/x-ndjson"
            }
        lines.append("Content-Type: \(type)")
        lines.append("Content-Length: \(length)")
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    }

    /// A name-based UUID of version 8 (RFC 9562 §5.8).
    private static func identifier(_ seed: String) -> String {
        var hash = FNV.hash128(seed.utf8)
        hash = hash & ~(0xF << 76) | 8 << 76
        hash = hash & ~(0x3 << 62) | 2 << 62
        let digits = Array(FNV.hex(hash))
        let groups = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }
        return "<urn:uuid:\(groups.joined(separator: "-"))>"
    }

    private static func text(of date: UnixTime) -> String {
        let second = (date.seconds % 86_400 + 86_400) % 86_400
        let (year, month, day) = UnixTime.civil((date.seconds - second) / 86_400)
        func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(year)-\(two(month))-\(two(day))T\(two(second / 3600)):\(two(second / 60 % 60))"
            + ":\(two(second % 60))Z"
    }
}

extension WarcRecord {
    /// The header section of a response whose body is kept as it was decoded from the transfer: the fields that
    /// describe the transfer are left out, and the length is that of the body.
    package static func responseHead(status: Int, fields: [(name: String, value: String)], length: Int64) -> [UInt8] {
        let framing: Set = ["transfer-encoding", "content-length", "connection", "keep-alive", "trailer"]
        var text = "HTTP/1.1 \(status) \r\n"
        for field in fields where !framing.contains(field.name.lowercased()) {
            guard FieldText.isSafe(field.value), FieldText.isSafe(field.name) else { continue }
            text += "\(field.name): \(field.value)\r\n"
        }
        text += "Content-Length: \(length)\r\n\r\n"
        return Array(text.utf8)
    }

    /// The request as far as it is known: the fields that the caller gave, without secrets.
    package static func request(_ address: WebAddress, headers: [String]) -> [UInt8] {
        var text = "GET \(address.path)\(address.query.map { "?" + $0 } ?? "") HTTP/1.1\r\n"
        text += "Host: \(address.host)\(address.port == address.scheme.defaultPort ? "" : ":\(address.port)")\r\n"
        for header in headers {
            let name = header.prefix { $0 != ":" }.lowercased()
            guard FieldText.isSafe(header), !Redaction.isSecret(name: name) else { continue }
            text += header + "\r\n"
        }
        return Array((text + "\r\n").utf8)
    }
}
