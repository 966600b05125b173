import PawlBase
import PawlCollections

/// The manifest of a shard in a tar archive: comments before its last member, and one with the trailer.
///
/// Readers skip comments, and the archive stays one to which others can be appended. Pawl 0.2.0 wrote the manifest behind
/// the end of the archive.
package enum TarManifest {
    /// The maximum length of a comment: Go and libarchive reject headers of more than 1 MiB.
    private static let longest = 1_000_000
    /// The name of the member of an archive without samples, since a comment needs one that follows.
    package static let empty = "no-samples/"

    /// Splits a manifest, which comes piece by piece, into comments.
    package struct Writer: Sendable {
        private var pending: [UInt8] = []

        package init() {}

        /// The headers that are complete with these bytes.
        package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            pending += bytes
            var headers: [UInt8] = []
            while pending.count > longest {
                // The values of pax records are whole characters.
                var end = longest
                while end > longest - 4, pending[end] & 0xC0 == 0x80 { end -= 1 }
                headers += TarHeader.comment(Array(pending[..<end]))
                pending.removeFirst(end)
            }
            return headers
        }

        /// The last header.
        package mutating func finish() -> [UInt8] {
            defer { pending = [] }
            return pending.isEmpty ? [] : TarHeader.comment(pending)
        }
    }

    /// The trailer in the last bytes of an archive, and where its header begins in them; `nil` if they have none.
    package static func trailer(in bytes: [UInt8]) -> (trailer: ShardTrailer, start: Int)? {
        let block = TarHeader.block
        guard bytes.count.isMultiple(of: block) else { return nil }
        // The member after it is JSON without line breaks, so nothing in it can be taken for a trailer.
        for start in stride(from: bytes.count - 2 * block, through: 0, by: -block) {
            guard let (text, end) = comment(in: bytes[start...]), end == start + 2 * block,
                let trailer = ShardTrailer(Array(text))
            else { continue }
            return (trailer, start)
        }
        return nil
    }

    /// The manifest in these headers; `nil` if they are damaged.
    ///
    /// What 0.2.0 wrote is the manifest itself.
    package static func manifest(in bytes: [UInt8]) -> [UInt8]? {
        guard bytes.first != UInt8(ascii: "{") else { return bytes }
        var manifest: [UInt8] = []
        var start = 0
        while start < bytes.count {
            guard let (text, end) = comment(in: bytes[start...]) else { return nil }
            manifest += text
            start = end
        }
        return manifest
    }

    /// The comment of a global header at the start of these bytes, and where its blocks end.
    private static func comment(in bytes: ArraySlice<UInt8>) -> (text: ArraySlice<UInt8>, end: Int)? {
        let start = bytes.startIndex
        let records = bytes.dropFirst(TarHeader.block)
        guard !records.isEmpty, bytes[start + 156] == UInt8(ascii: "g"),
            let name = records.firstIndex(of: UInt8(ascii: " ")), name - records.startIndex <= 8,
            let length = Int(String(decoding: records[..<name], as: UTF8.self)), length > 0, length <= records.count
        else { return nil }
        let record = records.prefix(length)
        let keyword = Array(" comment=".utf8)
        guard record[name...].starts(with: keyword), record.last == .lineFeed, name + keyword.count < record.endIndex
        else { return nil }
        let end = record.endIndex + TarHeader.padding(after: Int64(length)).count
        guard end <= bytes.endIndex else { return nil }
        return (record[(name + keyword.count)..<(record.endIndex - 1)], end)
    }
}
