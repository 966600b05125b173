import Pawl
package import PawlBase
import PawlDisk
import PawlSystem
import Synchronization

/// The received bytes of one download.
package struct SampleContent: Sendable {
    private enum Storage {
        case memory([UInt8])
        case file(OpenFile, start: Int64)
    }

    /// The length of a piece of a file.
    private static let piece = 256 << 10

    private let storage: Storage
    package let length: Int64
    /// The file, if nothing else is in it.
    private let own: OwnFile?

    package init(bytes: [UInt8]) {
        storage = .memory(bytes)
        length = Int64(bytes.count)
        own = nil
    }

    /// A part of a file that has other content too.
    init(file: OpenFile, start: Int64 = 0, length: Int64) {
        storage = .file(file, start: start)
        self.length = length
        own = nil
    }

    /// All of an unnamed file.
    init(_ own: OwnFile, length: Int64) {
        storage = .file(own.file, start: 0)
        self.length = length
        self.own = own
    }

    /// The bytes in memory.
    package var memory: Int { if case .memory(let bytes) = storage { bytes.count } else { 0 } }

    package var isInFile: Bool { if case .file = storage { true } else { false } }

    /// Whether its file has no other content; those in a shared file do not need a descriptor each.
    package var ownsFile: Bool { own != nil }

    /// The file, if the content is all of it and nobody has taken it: it can get one name only.
    func takeFile() -> OpenFile? { own?.take() }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        switch storage {
        case .file(let file, let start):
            let most = Int(min(Int64(buffer.count), max(0, length - offset)))
            return try unsafe file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<most]), at: start + offset)
        case .memory(let bytes):
            let part = bytes[min(Int(offset), bytes.count)..<min(Int(offset) + buffer.count, bytes.count)]
            unsafe part.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
            return part.count
        }
    }

    /// Calls `body` with all bytes, piece by piece.
    package func forEachPiece(_ body: (ArraySlice<UInt8>) throws(Failure) -> Void) throws(Failure) {
        switch storage {
        case .memory(let bytes): try body(bytes[...])
        case .file:
            var offset: Int64 = 0
            while offset < length {
                let piece: [UInt8]
                do throws(SystemError) {
                    let most = Int(min(Int64(Self.piece), length - offset))
                    piece = try unsafe BoundedRead.bytes(most) { buffer throws(SystemError) in
                        try unsafe read(into: buffer, at: offset)
                    }
                } catch { throw Failure.sample(.inputOutput, "cannot read", at: "a temporary file", error) }
                guard !piece.isEmpty else {
                    throw Failure(
                        .inputOutput, "cannot read", at: "a temporary file",
                        because: "it is shorter than what was written to it")
                }
                try body(piece[...])
                offset += Int64(piece.count)
            }
        }
    }

    /// The same content in memory if it is one piece, so that it is read from the file only once.
    package func inMemory() throws(Failure) -> SampleContent {
        guard isInFile, length <= Int64(Self.piece) else { return self }
        var bytes: [UInt8] = []
        try forEachPiece { bytes = Array($0) }
        return SampleContent(bytes: bytes)
    }

    /// All bytes, for content that is known to be small.
    package func bytes() throws(Failure) -> [UInt8] {
        if case .memory(let bytes) = storage { return bytes }
        var all: [UInt8] = []
        try forEachPiece { all += $0 }
        return all
    }

    package func sha256() throws(Failure) -> [UInt8] { try digests([.sha256], length: length)[0].digest }

    package func has(_ checksum: Checksum) throws(Failure) -> Bool {
        try digests([checksum.algorithm], length: length).first == checksum
    }

    func digests(_ algorithms: [HashAlgorithm], length: Int64) throws(Failure) -> [Checksum] {
        let hash = RunningHash(algorithms)
        var left = length
        try forEachPiece { piece in
            let part = piece.prefix(Int(min(left, Int64(piece.count))))
            unsafe part.withUnsafeBytes { unsafe hash.feed($0) }
            left -= Int64(part.count)
        }
        return hash.finish()
    }

    /// `path`: of the target, for messages.
    func write(to target: OpenFile, at start: Int64, path: String) throws(Failure) {
        var offset = start
        try forEachPiece { (piece) throws(Failure) in
            do throws(SystemError) {
                try unsafe piece.span.bytes.withUnsafeBytes { (buffer) throws(SystemError) in
                    try unsafe target.write(buffer, at: offset)
                }
            } catch { throw Failure.sample(.inputOutput, "cannot write", at: path, error) }
            offset += Int64(piece.count)
        }
    }
}

/// An unnamed file with one content, which can become a file with a name.
final class OwnFile: SpoolFile {
    let file: OpenFile
    private let folder: SpoolFolder
    private let isTaken = Atomic(false)

    init(_ file: OpenFile, in folder: SpoolFolder) { (self.file, self.folder) = (file, folder) }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure) {
        try folder.check { () throws(SystemError) in try unsafe file.write(bytes, at: offset) }
    }

    func truncate(to length: Int64) throws(Failure) {
        try folder.check { () throws(SystemError) in try file.truncate(to: length) }
    }

    /// The file for the first caller; a second name would make two samples one file.
    func take() -> OpenFile? { isTaken.exchange(true, ordering: .relaxed) ? nil : file }
}
