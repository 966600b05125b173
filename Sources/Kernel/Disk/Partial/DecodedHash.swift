import PawlBase
package import PawlSystem

/// The digests of what a coded file contains.
enum DecodedHash {
    private static let chunk = 256 << 10

    /// `nil` where the coding cannot be decoded; none where the bytes are not of that coding.
    static func digests(
        _ algorithms: [HashAlgorithm], of file: OpenFile, at path: String, coding: String, length: Int64
    ) -> Result<[Checksum]?, Failure> {
        var position: Int64 = 0
        var failure: SystemError?
        let found = ContentDigest.decoded(algorithms, coding) {
            guard position < length, failure == nil else { return nil }
            do throws(SystemError) {
                let bytes = try file.bytes(at: position, count: Int(min(Int64(chunk), length - position)))
                position += Int64(bytes.count)
                return bytes.isEmpty ? nil : bytes
            } catch {
                failure = error
                return nil
            }
        }
        if let failure { return .failure(Failure.system(.inputOutput, "cannot read", at: path, failure)) }
        return .success(found)
    }
}

extension OpenFile {
    /// Up to `count` bytes from there.
    package func bytes(at offset: Int64, count: Int) throws(SystemError) -> [UInt8] {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { unsafe buffer.deallocate() }
        let read = try unsafe read(into: buffer, at: offset)
        return unsafe [UInt8](UnsafeRawBufferPointer(rebasing: buffer[..<read]))
    }
}
