@testable import PawlBase
@testable import PawlTorrent

/// Torrents: any bytes are one with checked names and digests that fit its files, or none.
enum TorrentLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        guard let torrent = try? Torrent(bytes) else { return }
        try hold((try? Torrent(bytes)) == torrent, "the same bytes are another torrent")
        var end: Int64 = 0
        for file in torrent.files {
            try hold(file.size >= 0 && file.start == end, "a file begins elsewhere")
            end = file.end
        }
        var seen: Set<[[UInt8]]> = []
        for index in torrent.content.prefix(1_000) {
            try check(index, of: torrent)
            if torrent.files[index].flaw == nil {
                try hold(seen.insert(torrent.files[index].names).inserted, "two files have one path")
            }
        }
    }

    private static func check(_ index: Int, of torrent: Torrent) throws(BrokenLaw) {
        let file = torrent.files[index]
        if let path = try? torrent.path(of: index) {
            let isBelow = path.pathParts(keepsEmpty: true).allSatisfy { FileName.isPossible(String($0)) }
            try hold(isBelow && !path.isEmpty, "a path that leads elsewhere: \(path)")
            let addresses = torrent.addresses(of: index)
            try hold(addresses.count >= torrent.webSeeds.count, "a server without the file")
            for address in addresses.dropFirst(torrent.webSeeds.count) {
                let server = (try? WebAddress.parse(address).address).flatMap { PieceServer($0) }
                try hold(server?.length == file.size && server?.address?.text == address, "pieces of another file")
            }
        } else {
            try hold(torrent.addresses(of: index).isEmpty, "a file without a path is requested")
        }
        var known: Torrent.BorderDigests = [:]
        for number in torrent.borders(of: index) {
            let piece = torrent.border(number)
            try hold(piece.parts.reduce(0) { $0 + $1.range.count } == piece.length, "a piece with a gap")
            try hold(piece.length <= torrent.pieceLength && piece.digest.count == 20, "no piece: \(piece)")
            try hold(piece.parts.contains { $0.file == index }, "a border without the file")
            known[number] = [index: piece.digest]
        }
        guard let pieces = torrent.pieces(of: index, with: known) else {
            return try hold(
                file.size == 0 || file.flaw != nil || (file.size - 1) / torrent.pieceLength + 2 > PieceHashes.most,
                "a file without digests")
        }
        try hold(pieces.fits(file.size), "the digests do not fit \(file.size) bytes")
    }
}
