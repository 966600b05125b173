package import PawlBase

/// A `.zsync` control file: the checksums of a file's blocks, by which an older version of it is updated.
///
/// A header of `Name: value` lines ends with an empty line; the checksums of all blocks follow
/// (`zsyncmake(1)`; there is no other specification).
package struct ZsyncControl: Hashable, Sendable {
    /// The URL or the path of the file, as written.
    package let address: String
    /// The suggested name; empty if there is none.
    package let fileName: String
    /// The file's length in bytes.
    package let length: Int64
    package let blockLength: Int
    /// How many consecutive blocks have to match before one is reused.
    package let run: Int
    /// The bytes of the rolling checksum, 1…4.
    package let weakLength: Int
    /// The bytes of the MD4 digest, 3…16.
    package let strongLength: Int
    /// Of the whole file.
    package let checksum: Checksum
    /// Seconds since 1970, `nil` if not stated.
    package let modified: String?
    /// The checksums of all blocks: the rolling one, then the digest.
    package let table: [UInt8]

    /// Why a file is no usable control file.
    package struct Fault: Error, Hashable, Sendable { package let words: String }

    /// The longest header, and the longest control file, in bytes.
    package static let longestHeader = 64 << 10
    package static let longest = 1 << 30

    package var blockCount: Int { Int((length + Int64(blockLength) - 1) / Int64(blockLength)) }

    /// The range of a block in the file; the last one may be shorter.
    package func range(_ block: Int) -> ByteRange {
        let start = Int64(block) * Int64(blockLength)
        return ByteRange(start, min(length, start + Int64(blockLength)))
    }

    package init(_ bytes: [UInt8]) throws(Fault) {
        let (fields, body) = try Self.fields(bytes)
        guard fields["zsync"] != nil else { throw Fault(words: "it is not a zsync control file") }
        guard let address = fields["url"], !address.isEmpty else {
            let isPacked = fields["z-url"] != nil
            throw Fault(
                words: isPacked
                    ? "it describes the content of a compressed file (Z-Map2), which is not supported: make it with 'zsyncmake -Z'"
                    : "it has no URL")
        }
        guard fields["z-map2"] == nil else {
            throw Fault(words: "it describes the content of a compressed file (Z-Map2), which is not supported")
        }
        guard let length = fields["length"].flatMap({ Array($0.utf8).decimalNumber }),
            length <= ByteRange.longestFile
        else { throw Fault(words: "it has no valid Length") }
        guard let blockLength = fields["blocksize"].flatMap({ Int($0) }), blockLength >= 64, blockLength <= 1 << 20,
            blockLength & (blockLength - 1) == 0
        else { throw Fault(words: "its Blocksize is not a power of two from 64 bytes to 1 MiB") }
        let parts = (fields["hash-lengths"] ?? "1,4,16").split(separator: ",").map { Int($0) ?? 0 }
        guard parts.count == 3, (1...2).contains(parts[0]), (1...4).contains(parts[1]), (3...16).contains(parts[2])
        else { throw Fault(words: "it has no valid Hash-Lengths") }
        guard let digest = fields["sha-1"].flatMap({ Hexadecimal.bytes($0) }), digest.count == HashAlgorithm.sha1.length
        else { throw Fault(words: "it has no SHA-1 of the whole file") }
        let blocks = (length + Int64(blockLength) - 1) / Int64(blockLength)
        guard Int64(body.count) == blocks * Int64(parts[1] + parts[2]) else {
            throw Fault(words: "its table of checksums has another length than its header says")
        }
        self.address = address
        fileName = fields["filename"] ?? ""
        self.length = length
        self.blockLength = blockLength
        run = parts[0]
        weakLength = parts[1]
        strongLength = parts[2]
        checksum = Checksum(algorithm: .sha1, digest: digest)
        modified = fields["mtime"]
        table = Array(body)
    }

    /// The header's fields by their names in lower case, and what follows it.
    ///
    /// Of several URLs the first one counts.
    private static func fields(_ bytes: [UInt8]) throws(Fault) -> ([String: String], ArraySlice<UInt8>) {
        var fields: [String: String] = [:]
        var start = 0
        while let end = bytes[start...].prefix(longestHeader).firstIndex(of: UInt8(ascii: "\n")) {
            guard start <= longestHeader else { break }
            var line = bytes[start..<end]
            if line.last == UInt8(ascii: "\r") { line = line.dropLast() }
            start = end + 1
            if line.isEmpty { return (fields, bytes[start...]) }
            guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
                throw Fault(words: "it is not a zsync control file")
            }
            let name = String(decoding: line[..<colon], as: UTF8.self).lowercased()
            let value = line[(colon + 1)...].trimmed(\.isBlank)
            if fields[name] == nil { fields[name] = String(decoding: value, as: UTF8.self) }
            // The map follows in binary: the header cannot be read any further.
            if name == "z-map2" { return (fields, bytes[start...]) }
        }
        throw Fault(words: "it is not a zsync control file")
    }
}
