import Pawl
import PawlBase
import PawlGet
import PawlIntegrity
package import PawlTerminal

extension Command {
    package static let verify = Command(
        "verify", "[options] FILE...", summary: "check files against checksums, sums files, Metalinks or torrents",
        details: """
            Compute the digests of files and compare them, several files at once. Prints a line for each file. The exit code \
            is 32 if a file is wrong, and 3 if no digest for a file was found.
            Without options, a sums file (SHA256SUMS) stands for the files that it lists, and another file is compared with the \
            sums files beside it (SHA256SUMS, FILE.sha256) and the digest that --xattr stored with it.
            """, operand: .files, taking: VerifyOptions.table
    ) { (options, operands) throws(Failure) in
        let plan = try VerifyPlan(options, files: operands)
        for note in plan.notes { printNotice(note) }
        return VerifyRun(plan, options).run()
    }
}

/// What `pawl verify` compares, complete before any file is read.
struct VerifyPlan: Sendable {
    /// A digest that a file must have, and where it stands.
    struct Expectation: Sendable, Hashable {
        var checksum: Checksum
        var source: String
        /// The digests that suffice as well, where it is not stated which algorithm's it is.
        var alternatives: [Checksum] = []
        /// Whether only the length tells the algorithm.
        var isGuessed = false
    }

    struct Item: Sendable {
        /// The bytes of the path, which need not be UTF-8.
        var name: [UInt8]
        /// The path for users.
        var path: String { String(decoding: name, as: UTF8.self) }
        var expected: [Expectation] = []
        /// The file's length, of a Metalink.
        var length: Int64?
        /// Checked where there is no digest of the whole.
        var pieces: PieceHashes?
        var source = ""
        /// Why what names the file says nothing of its content.
        var flaw: String?
        /// Why what an origin states of the file is not known.
        var failure: Failure?

        var isNamed: Bool { !expected.isEmpty || pieces != nil }
    }

    private(set) var items: [Item]
    /// Lines of sums files that are left out.
    private(set) var notes: [String] = []

    /// `files` are paths as ``PathText``.
    init(_ options: VerifyOptions, files: [String]) throws(Failure) {
        guard !files.isEmpty else { throw Failure.usage("verify", "[options] FILE...", missing: "FILE") }
        if options.checksums.isEmpty, (options.sums + options.metalinks + options.torrents + options.from).isEmpty {
            items = try Self.itemsAlone(files)
            return
        }
        guard options.checksums.isEmpty || files.count == 1 else {
            throw Failure(
                .badOption, "cannot use", at: "--checksum",
                because: "it applies to a single file, but there are several", remedy: "use --sums")
        }
        let torrents = try options.torrents.map { (place) throws(Failure) in
            try DescribedTorrent(at: place, of: GetOptions())
        }
        items = files.flatMap { file in
            (torrents.lazy.compactMap { $0.files(below: file) }.first ?? [PathText.bytes(file)]).map { Item(name: $0) }
        }
        for checksum in options.checksums {
            items[0].expected.append(Expectation(checksum: checksum, source: "--checksum"))
        }
        for place in options.sums { try add(sums: place) }
        for place in options.metalinks { try add(metalink: place) }
        for torrent in torrents { add(torrent) }
        for url in options.from { try add(from: url) }
    }

    private mutating func add(_ torrent: DescribedTorrent) {
        let found = torrent.pieces(ofFilesAt: items.map(\.path))
        for (index, found) in zip(items.indices, found) {
            guard let (size, pieces) = found else { continue }
            (items[index].length, items[index].source) = (size, ReadMaterial.shown(torrent.place))
            switch pieces {
            case .success(let pieces?): items[index].pieces = pieces
            // An empty file has no pieces.
            case .success(nil):
                let empty = Checksum(algorithm: .sha256, digest: SHA256.digest([]))
                items[index].expected.append(Expectation(checksum: empty, source: items[index].source))
            case .failure(let failure): items[index].failure = failure
            }
        }
    }

    /// Adds what sums files beside the content say; a URL that ends with a slash is the folder of all files.
    private mutating func add(from url: String) throws(Failure) {
        let address = try WebAddress.parse(url).address
        guard url.hasSuffix("/") || items.count == 1 else {
            throw Failure(
                .badOption, "cannot use", at: "--from \(url)",
                because: "it is one file's URL, but there are several files",
                remedy: "give the URL of their folder, with a slash at the end")
        }
        let origin = OriginSums(address)
        defer { origin.end() }
        for index in items.indices {
            // What is not known of one file says nothing of the others.
            do throws(Failure) {
                let digests = try origin.digests(ofFileAt: items[index].name)
                items[index].expected += digests
                if digests.isEmpty {
                    items[index].flaw = "neither \(address.redacted) nor a sums file beside it states a digest of it"
                }
            } catch { items[index].failure = error }
        }
    }

    private mutating func add(metalink place: String) throws(Failure) {
        let metalink = try ReadMaterial.metalink(at: place, of: GetOptions())
        let place = ReadMaterial.shown(place)
        for index in items.indices {
            guard let file = metalink.file(for: items[index].path, isOnly: items.count == 1) else { continue }
            items[index].expected += file.checksums.map { Expectation(checksum: $0, source: place) }
            if file.checksums.isEmpty, file.pieces == nil {
                items[index].flaw = "\(place) has neither a usable digest of it nor usable pieces"
            }
            items[index].length = file.size ?? items[index].length
            items[index].pieces = file.pieces ?? items[index].pieces
            items[index].source = place
        }
    }

    private mutating func add(sums place: String) throws(Failure) {
        let bytes = try ReadMaterial.bytes(at: place, limit: SumsFile.longest, of: GetOptions())
        let place = ReadMaterial.shown(place)
        let name = Self.name(ofPlace: place)
        guard let sums = SumsFile(bytes, named: name) else {
            throw Failure(
                .badOption, "cannot use", at: place, because: Self.flaw(ofSums: bytes, named: name),
                remedy: "supported: \(DownloadOption.checksumNames)")
        }
        notes += Self.note(onSums: bytes, named: name, at: place)
        for index in items.indices {
            let found = sums.checksums(ofFileAt: items[index].name, isOnly: items.count == 1)
            items[index].expected += sums.expectations(found, place)
            let name = items[index].name.split(separator: UInt8(ascii: "/")).last ?? [][...]
            if found.isEmpty, sums.names(name) {
                items[index].flaw = "\(place) has different digests of the same algorithm for it"
            } else if found.isEmpty, sums.outside.contains(where: { $0.path.last == Array(name) }) {
                items[index].flaw = "\(place) names several files of that name, all of them in other folders"
            }
        }
    }

    /// Why no digest of a sums file counts.
    static func flaw(ofSums bytes: [UInt8], named name: [UInt8]) -> String {
        if bytes.allSatisfy(\.isWhiteSpace) { return "it is empty" }
        if SumsNotation(name) == .unsupported { return "by its name its digests are not of a supported algorithm" }
        if SumsFile.hasPOSIXChecksums(bytes) {
            return "it has the CRCs of POSIX cksum, which are not supported; 'cksum -a sha256' writes digests that are"
        }
        let line = SumsFile.unknownLines(of: bytes, named: name).map { ": line \($0.number) is \(quoted($0.text))" }
        return "it is not a sums file with digests of a supported algorithm\(line ?? "")"
    }

    /// That a line of a sums file is left out, if one is.
    static func note(onSums bytes: [UInt8], named name: [UInt8], at place: String) -> [String] {
        SumsFile.unknownLines(of: bytes, named: name).map {
            ["\(place): line \($0.number) is not understood and left out: \($0.description)"]
        } ?? []
    }

    /// The last part of a path or a URL, without its query.
    private static func name(ofPlace place: String) -> [UInt8] {
        if ReadMaterial.isURL(place), let address = try? WebAddress.parse(place).address {
            return SidecarNames.name(of: address) ?? []
        }
        return place.utf8.split(separator: UInt8(ascii: "/")).last.map(Array.init) ?? []
    }
}

extension SumsFile {
    /// The digests of the file at `path`: those of the entry with the longest end of it, else of its name; else, of the
    /// only entry of that name that is absolute or leads out of the folder.
    func checksums(ofFileAt path: [UInt8], isOnly: Bool) -> [Checksum] {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = parts.last else { return [] }
        let fitting = (entries + outside).filter { Array(parts.suffix($0.path.count)) == $0.path }
        guard let longest = fitting.map(\.path.count).max(), longest > 1 else {
            let found = checksums(of: name, isOwn: isOnly)
            let others = outside.filter { $0.path.last == name }
            guard found.isEmpty, others.count == 1, !entries.contains(where: { $0.path.last == name }) else {
                return found
            }
            return [others[0].checksum]
        }
        let named = fitting.filter { $0.path.count == longest }.map(\.checksum)
        // Two digests of one algorithm contradict each other: none counts.
        let digests = Set(named)
        return Set(digests.map(\.algorithm)).count == digests.count ? Array(digests) : []
    }

    /// What `checksums` of this sums file at `place` demand.
    func expectations(_ checksums: [Checksum], _ place: String) -> [VerifyPlan.Expectation] {
        checksums.map { checksum in
            VerifyPlan.Expectation(
                checksum: checksum, source: place, alternatives: alternatives(to: checksum),
                isGuessed: isGuessed(checksum))
        }
    }
}
