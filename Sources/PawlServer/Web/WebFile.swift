import Glibc

/// An open file of which a part is sent; closed with its last reference.
package final class WebFile: Sendable {
    private let descriptor: Int32
    package let offset: Int64
    package let length: Int64

    /// Takes the descriptor over.
    package init(descriptor: Int32, offset: Int64, length: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit { close(descriptor) }

    /// Fills `buffer` from `position` of the part; 0 when the file ends too early or cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int {
        while true {
            let count = unsafe pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset + position))
            if count >= 0 { return count }
            guard errno == EINTR else { return 0 }
        }
    }
}
