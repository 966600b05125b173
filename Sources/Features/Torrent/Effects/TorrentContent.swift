package import PawlBase

/// What fetches a few bytes of a file, on the calling thread.
package protocol TorrentContent: Sendable {
    /// The bytes of `range` of a file of `length` bytes, from the first of the URLs that has them.
    func bytes(of addresses: [String], _ range: ByteRange, in length: Int64) throws(Failure) -> [UInt8]
}
