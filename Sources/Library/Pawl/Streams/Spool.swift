#if Features
package import PawlBase
import Synchronization

/// What a ``Spool`` writes to when its bytes are too many for memory.
package protocol SpoolFile: Sendable {
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Failure)
    func truncate(to length: Int64) throws(Failure)
}

/// Bytes that are received: in memory up to a limit, then in a file without a name.
package final class Spool<File: SpoolFile>: Sendable {
    /// What was received.
    package struct Content: Sendable {
        /// Empty if there is a file.
        package fileprivate(set) var bytes: [UInt8] = []
        package fileprivate(set) var file: File?
        package fileprivate(set) var length: Int64 = 0
    }

    private let memory: Int
    private let makeFile: @Sendable () throws(Failure) -> File
    private let state = Mutex(Content())

    /// `memory`: so many bytes are kept in it.
    package init(memory: Int, makeFile: @escaping @Sendable () throws(Failure) -> File) {
        (self.memory, self.makeFile) = (memory, makeFile)
    }

    package var content: Content { state.withLock { $0 } }
    package var length: Int64 { state.withLock { $0.length } }

    /// So many bytes follow, which are not moved while they grow.
    package func reserve(_ count: Int64) {
        guard 0...Int64(memory) ~= count else { return }
        state.withLock { $0.bytes.reserveCapacity(Int(count)) }
    }

    package func append(_ bytes: UnsafeRawBufferPointer) throws(Failure) {
        try change { content throws(Failure) in
            if content.file == nil, content.length + Int64(bytes.count) > Int64(memory) {
                let file = try makeFile()
                try unsafe content.bytes.span.bytes.withUnsafeBytes { (buffer) throws(Failure) in
                    try unsafe file.write(buffer, at: 0)
                }
                (content.file, content.bytes) = (file, [])
            }
            if let file = content.file {
                try unsafe file.write(bytes, at: content.length)
            } else {
                unsafe content.bytes.append(contentsOf: bytes)
            }
            content.length += Int64(bytes.count)
        }
    }

    package func truncate(to length: Int64) throws(Failure) {
        try change { content throws(Failure) in
            guard length < content.length else { return }
            if let file = content.file {
                try file.truncate(to: length)
            } else {
                content.bytes.removeSubrange(Int(length)...)
            }
            content.length = length
        }
    }

    /// The first `length` bytes are all.
    package func finish(length: Int64, _ completion: (Result<String, Failure>) -> Void) {
        do throws(Failure) {
            try truncate(to: length)
            completion(.success(""))
        } catch { completion(.failure(error)) }
    }

    package func removeAll() { state.withLock { $0 = Content() } }

    /// The closure of `withLock` cannot throw a `Failure`.
    private func change(_ body: (inout Content) throws(Failure) -> Void) throws(Failure) {
        let failure: Failure? = state.withLock { content in
            do throws(Failure) {
                try body(&content)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }
}
#endif
