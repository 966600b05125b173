import Glibc
import Pawl
import PawlBase
import PawlGet
import PawlIntegrity

// What `pawl verify` compares with if nothing is given to compare with: as `sha256sum -c`, and the sums files beside a file.
extension VerifyPlan {
    /// The items of files alone: those that a sums file lists, or a file with what is known of it.
    ///
    /// Throws if nothing is known of any of them.
    static func itemsAlone(_ files: [String]) throws(Failure) -> [Item] {
        var items: [Item] = []
        for file in files {
            let path = PathText.bytes(file)
            if kind(ofName: split(path).name).isSums, let listed = try listed(in: path) {
                items += listed
                continue
            }
            var item = try itemBeside(path)
            if !item.isNamed, item.failure == nil {
                // With another name, of which each line tells.
                if let listed = try listed(in: path, isWhole: true) {
                    items += listed
                    continue
                }
                item.failure = try refusal(ofSums: path)
            }
            items.append(item)
        }
        if items.contains(where: { $0.isNamed || $0.failure != nil }) { return items }
        throw Failure(
            .badOption, "cannot verify", at: files.map(PathText.shown).joined(separator: " "),
            because: "nothing to compare with: no sums file beside it names it",
            remedy: "give --checksum, --sums, --metalink, --torrent or --from")
    }

    /// The files that a sums file names, in its folder; `nil` for any other file.
    ///
    /// `isWhole`: only if no line is something else.
    private static func listed(in path: [UInt8], isWhole: Bool = false) throws(Failure) -> [Item]? {
        let (folder, name) = split(path)
        let ending = kind(ofName: name).ending
        guard let text = String(validating: path, as: UTF8.self), let bytes = try bytes(ofSumsAt: text),
            let sums = SumsFile(bytes, named: name)
        else { return nil }
        let unknown = SumsFile.unknownLines(of: bytes, named: name)
        if isWhole, sums.bare != nil || unknown != nil { return nil }
        var items: [Item] = []
        if let unknown {
            // It may name a file that would not be checked.
            var item = Item(name: path)
            item.failure = Failure(
                .badOption, "cannot use the whole of", at: text,
                because: "line \(unknown.number) is not understood: \(unknown.description)",
                remedy: "correct the list, or give the files and --sums \(text)")
            items.append(item)
        }
        for file in sums.files {
            var item = Item(name: folder + Array(file.path.joined(separator: [UInt8(ascii: "/")])))
            item.expected = sums.expectations(file.checksums, text)
            if file.checksums.isEmpty {
                item.failure = Failure(
                    .badOption, "cannot verify", at: PathText.shown(String(decoding: item.name, as: UTF8.self)),
                    because: "\(text) has different digests of the same algorithm for it",
                    remedy: "correct the list, or give --checksum")
            }
            items.append(item)
        }
        if let bare = sums.bare, let ending {
            var item = Item(name: Array(path.dropLast(ending.utf8.count)))
            item.expected = sums.expectations([bare], text)
            items.append(item)
        }
        for entry in sums.outside {
            let place = String(decoding: Array(entry.path.joined(separator: [UInt8(ascii: "/")])), as: UTF8.self)
            var item = Item(name: Array(place.utf8))
            item.failure = Failure(
                .badOption, "cannot verify", at: place, because: "\(text) names it in another folder",
                remedy: "give the file, and --sums \(text)")
            items.append(item)
        }
        return items
    }

    /// Whether a name is that of a sums file, and the ending that follows the name of the only file that it is of.
    private static func kind(ofName name: [UInt8]) -> (isSums: Bool, ending: String?) {
        let shown = String(decoding: name, as: UTF8.self)
        let ending = SidecarNames.ownOnDisk.first { shown.lowercased().hasSuffix($0) }
        return (ending != nil || SidecarNames.isList(shown), ending)
    }

    /// Why a file with the name of a sums file is none; `nil` for other files.
    private static func refusal(ofSums path: [UInt8]) throws(Failure) -> Failure? {
        let name = split(path).name
        guard kind(ofName: name).isSums, let text = String(validating: path, as: UTF8.self),
            let bytes = try bytes(ofSumsAt: text)
        else { return nil }
        return Failure(
            .badOption, "cannot use", at: text, because: flaw(ofSums: bytes, named: name),
            remedy: "supported: \(DownloadOption.checksumNames)")
    }

    /// A file with the digests of the sums files beside it, and the one that was stored with it.
    private static func itemBeside(_ path: [UInt8]) throws(Failure) -> Item {
        var item = Item(name: path)
        // That it is not there is the first thing to say.
        do throws(Failure) { _ = try FileDigests(path) } catch {
            item.failure = error
            return item
        }
        let (folder, name) = split(path)
        let own = SidecarNames.ownOnDisk.map { (path + Array($0.utf8), true) }
        let common = SidecarNames.commonOnDisk.map { (folder + Array($0.utf8), false) }
        for (place, isOwn) in own + common where place != path {
            guard let text = String(validating: place, as: UTF8.self),
                let sums = try sums(at: text, named: split(place).1)
            else { continue }
            item.expected += sums.expectations(sums.checksums(ofFileAt: name, isOnly: isOwn), text)
        }
        if let stored = OriginAttributes(ofFileAt: path).checksum {
            item.expected.append(Expectation(checksum: stored, source: OriginAttributes.digestName))
        }
        return item
    }

    /// `nil` where there is no sums file.
    private static func sums(at path: String, named name: [UInt8]) throws(Failure) -> SumsFile? {
        try bytes(ofSumsAt: path).flatMap { SumsFile($0, named: name) }
    }

    private static func bytes(ofSumsAt path: String) throws(Failure) -> [UInt8]? {
        var found = stat()
        guard unsafe stat(path, &found) == 0, found.st_mode & S_IFMT == S_IFREG, found.st_size <= SumsFile.longest
        else {
            return nil
        }
        return try ReadMaterial.bytes(at: path, limit: SumsFile.longest, of: GetOptions())
    }

    /// The folder with its slash, and the name.
    private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
        let start = path.lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
        return (Array(path[..<start]), Array(path[start...]))
    }
}
