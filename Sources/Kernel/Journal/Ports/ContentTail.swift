/// The last bytes of content that passes in order: they prove that another response has the same content.
package struct ContentTail: Sendable {
    /// All bytes that have passed.
    package private(set) var length: Int64
    private var bytes: [UInt8]
    private let kept: Int

    /// `kept`: how many bytes are available at least, once as many have passed.
    package init(_ bytes: [UInt8] = [], length: Int64 = 0, keeping kept: Int = 256 << 10) {
        self.bytes = bytes
        self.length = length
        self.kept = kept
    }

    package mutating func append(_ more: UnsafeRawBufferPointer) {
        length += Int64(more.count)
        unsafe bytes.append(contentsOf: more.suffix(kept))
        if bytes.count > kept * 2 { bytes.removeFirst(bytes.count - kept) }
    }

    /// Fills `buffer` from `offset`; `false` where those bytes are no longer kept.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) -> Bool {
        let start = offset - (length - Int64(bytes.count))
        guard start >= 0, start + Int64(buffer.count) <= Int64(bytes.count) else { return false }
        unsafe bytes.withUnsafeBytes { bytes in
            let part = Int(start)..<Int(start) + buffer.count
            unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[part]))
        }
        return true
    }
}
