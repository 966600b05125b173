import PawlBase

// The first version (BEP 3): one sequence of bytes of all files, cut into pieces.
extension Torrent {
    static func plainFiles(
        of info: Bencode, name: [UInt8], pieceLength: Int64
    ) throws(Fault) -> (files: [File], digests: [UInt8]) {
        guard let digests = info["pieces"]?.bytes, digests.count % HashAlgorithm.sha1.length == 0 else {
            throw Fault(words: "it has no digests of pieces")
        }
        var files: [File] = []
        var total: Int64 = 0
        func add(_ names: [[UInt8]], _ entry: Bencode) throws(Fault) {
            let attributes = entry["attr"]?.bytes ?? []
            let isLink = attributes.contains(UInt8(ascii: "l"))
            guard let size = entry["length"]?.integer ?? (isLink ? 0 : nil), size >= 0 else {
                throw Fault(words: "a file has no length")
            }
            var file = File(names: names, size: size, start: total)
            file.isPadding = attributes.contains(UInt8(ascii: "p")) || isPadding(names)
            if isLink { file.flaw = "it is a symbolic link, which is not made" }
            files.append(file)
            let (sum, isTooLong) = total.addingReportingOverflow(size)
            guard !isTooLong, sum <= ByteRange.longestFile else {
                throw Fault(words: "its files are too long together")
            }
            total = sum
        }
        if let list = info["files"]?.list {
            guard !list.isEmpty else { throw Fault(words: "it lists no file") }
            guard list.count <= mostFiles else { throw Fault(words: "it lists more than \(mostFiles) files") }
            for entry in list {
                let parts = entry["path.utf-8"]?.list ?? entry["path"]?.list ?? []
                let names = parts.compactMap(\.bytes)
                guard !names.isEmpty, names.count == parts.count else { throw Fault(words: "a file has no path") }
                try add(names, entry)
            }
        } else {
            try add([name], info)
        }
        let count = Int64(digests.count / HashAlgorithm.sha1.length)
        guard (total + pieceLength - 1) / pieceLength == count else {
            throw Fault(words: "it has digests of \(count) pieces of \(pieceLength) bytes for \(total) bytes")
        }
        return (markTwins(files), digests)
    }

    /// Older programs wrote padding under such names (BEP 47).
    private static func isPadding(_ names: [[UInt8]]) -> Bool {
        names.first == Array(".pad".utf8) && names.count == 2
            || names.last?.starts(with: "_____padding_file_".utf8) == true
    }

    /// Of several files with the same path the first is downloaded.
    static func markTwins(_ files: [File]) -> [File] {
        var files = files
        var seen: Set<[[UInt8]]> = []
        for index in files.indices where !files[index].isPadding && !seen.insert(files[index].names).inserted {
            files[index].flaw = "the torrent has another file with this path"
        }
        return files
    }
}
