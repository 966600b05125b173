#if Queue
package import PawlBase
import PawlQueue

// The digests of a download's pieces: a stored value of the queue, read when they are needed.
extension QueueKeeper {
    private static func name(of id: QueueID) -> String { "pieces \(id.text)" }

    func keep(_ pieces: PieceHashes, of id: QueueID) { values[Self.name(of: id)] = pieces.text }

    /// Forgets those that are not written yet.
    func forgetPieces(of id: QueueID) { values[Self.name(of: id)] = nil }

    func forgetPieces(of ids: Set<QueueID>) -> [QueueChange] { ids.map { .value(Self.name(of: $0), nil) } }

    /// `nil` without any.
    func pieces(of record: QueueRecord) throws(Failure) -> PieceHashes? {
        guard StoredOptions(text: record.options).pieceLength != nil else { return nil }
        let name = Self.name(of: record.id)
        let text = if let pending = values[name] { pending } else { try store.value(name) }
        return text.flatMap { PieceHashes(text: $0) }
    }
}

extension DownloadManager {
    /// The digests of the pieces of a download; `nil` without any.
    package func pieces(of id: Download.ID) async throws(PawlError) -> PieceHashes? {
        try await query { keeper throws(Failure) in
            try keeper.record(QueueID(id)).flatMap { (record) throws(Failure) in try keeper.pieces(of: record) }
        }
    }
}
#endif
