package import PawlBase

/// A piece that has bytes of more than one file, or of a file and padding (BEP 3).
package struct BorderPiece: Hashable, Sendable {
    /// Bytes of one file.
    package struct Part: Hashable, Sendable {
        /// Its index among the files; `nil` for padding.
        package var file: Int?
        package var range: ByteRange
    }

    package var number: Int
    package var digest: [UInt8]
    package var length: Int64
    package var parts: [Part]

    /// Its bytes by its parts; `nil` if they are not so many.
    func divided(_ bytes: [UInt8]) -> [[UInt8]]? {
        guard Int64(bytes.count) == length else { return nil }
        var rest = bytes[...]
        return parts.map { part in
            defer { rest = rest.dropFirst(Int(part.range.count)) }
            return Array(rest.prefix(Int(part.range.count)))
        }
    }
}

extension Torrent {
    /// The digests of the bytes that files have in border pieces, for each piece and file.
    package typealias BorderDigests = [Int: [Int: [UInt8]]]

    /// The numbers of the pieces that have bytes of a file.
    private func pieces(of file: File) -> ClosedRange<Int> {
        Int(file.start / pieceLength)...Int((file.end - 1) / pieceLength)
    }

    private func range(ofPiece number: Int) -> ByteRange {
        let start = Int64(number) * pieceLength
        return ByteRange(start, min(start + pieceLength, files.last?.end ?? 0))
    }

    /// The pieces at the ends of a file that are not its own.
    package func borders(of index: Int) -> [Int] {
        let file = files[index]
        // Of a file with a tree, no piece is another's, also if the tree cannot be used.
        guard !digests.isEmpty, file.size > 0 else { return [] }
        let own = pieces(of: file)
        var found: [Int] = []
        if range(ofPiece: own.lowerBound).start < file.start { found.append(own.lowerBound) }
        if range(ofPiece: own.upperBound).end > file.end, !isPadded(index), found.last != own.upperBound {
            found.append(own.upperBound)
        }
        return found
    }

    /// Whether padding completes the last piece of a file.
    private func isPadded(_ index: Int) -> Bool {
        guard index + 1 < files.count, files[index + 1].isPadding, files[index + 1].size > 0 else { return false }
        let end = range(ofPiece: pieces(of: files[index]).upperBound).end
        // Longer padding is not written, and so is less at the end.
        return files[index + 1].end == end && end % pieceLength == 0 && files[index].end < end
    }

    package func border(_ number: Int) -> BorderPiece {
        let whole = range(ofPiece: number)
        var parts: [BorderPiece.Part] = []
        var index = firstFile(endingAfter: whole.start)
        while index < files.count, files[index].start < whole.end {
            let file = files[index]
            let range = ByteRange(max(whole.start, file.start) - file.start, min(whole.end, file.end) - file.start)
            if !range.isEmpty { parts.append(BorderPiece.Part(file: file.isPadding ? nil : index, range: range)) }
            index += 1
        }
        return BorderPiece(number: number, digest: digest(number), length: whole.count, parts: parts)
    }

    /// Where servers of pieces have one that files share.
    func addresses(ofPiece piece: BorderPiece) -> [String] {
        guard let plainPieces else { return [] }
        return pieceServers.compactMap { url in
            PieceServer(
                infoHash: plainPieces.infoHash, start: Int64(piece.number) * pieceLength, length: piece.length,
                pieceLength: pieceLength, url: url)?.address?.text
        }
    }

    private func firstFile(endingAfter offset: Int64) -> Int {
        var (low, high) = (0, files.count)
        while low < high {
            let middle = (low + high) / 2
            if files[middle].end > offset { high = middle } else { low = middle + 1 }
        }
        return low
    }

    private func digest(_ number: Int) -> [UInt8] {
        let length = HashAlgorithm.sha1.length
        return Array(digests[number * length..<(number + 1) * length])
    }

    /// The digests of a file's pieces; `nil` if it is empty, has more than a file may have, or a border is not known.
    package func pieces(of index: Int, with known: BorderDigests = [:]) -> PieceHashes? {
        let file = files[index]
        if let tree = file.tree { return tree }
        guard !digests.isEmpty, file.size > 0, file.flaw == nil else { return nil }
        let own = pieces(of: file)
        guard own.count <= PieceHashes.most else { return nil }
        let borders = Set(borders(of: index))
        var all: [[UInt8]] = []
        all.reserveCapacity(own.count)
        for number in own {
            guard borders.contains(number) else {
                all.append(digest(number))
                continue
            }
            guard let digest = known[number]?[index] else { return nil }
            all.append(digest)
        }
        return PieceHashes(
            .sha1, length: pieceLength, first: pieceLength - file.start % pieceLength,
            isPadded: !borders.contains(own.upperBound) && isPadded(index), digests: all)
    }
}
