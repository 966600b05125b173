import Glibc
import PawlSystem

/// A range of an open file to be sent; closed with its last reference.
package final class WebFile: Sendable {
    private let descriptor: Int32
    package let offset: Int64
    package let length: Int64

    /// Takes ownership of the descriptor.
    package init(descriptor: Int32, offset: Int64, length: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit { close(descriptor) }

    /// Fills `buffer` from `position` of the range; 0 if the file is too short or cannot be read.
    func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> Int {
        (try? unsafe BoundedRead.fill(buffer, from: descriptor, at: offset + position)) ?? 0
    }
}
