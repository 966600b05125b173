import Pawl
import PawlCore

extension Command {
    static let verify = Command(
        "verify",
        "[options] FILE...",
        summary: "check files against checksums, sums files or Metalinks",
        details: """
            Compute the digests of files and compare them, several files at once. Prints a line for each file. The exit code \
            is 32 if a file is wrong, and 3 if no digest for a file was found.
            """,
        operand: .files,
        taking: VerifyOptions.table
    ) { (options, operands) throws(Failure) in
        let plan = try VerifyPlan(options, files: operands)
        return VerifyRun(plan, options).run()
    }
}

/// What `pawl verify` compares, complete before any file is read.
struct VerifyPlan: Sendable {
    /// A digest that a file must have, and where it stands.
    struct Expectation: Sendable, Hashable {
        var checksum: Checksum
        var source: String
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

        /// The expectation that proves most.
        var best: Expectation? {
            for algorithm in HashAlgorithm.allCases {
                if let found = expected.first(where: { $0.checksum.algorithm == algorithm }) { return found }
            }
            return nil
        }

        var isNamed: Bool { !expected.isEmpty || pieces != nil && length != nil }
    }

    private(set) var items: [Item]

    /// `files` are paths as ``PathText``.
    init(_ options: VerifyOptions, files: [String]) throws(Failure) {
        guard !files.isEmpty else {
            throw Failure.usage("verify", "[options] FILE...", missing: "FILE")
        }
        guard !options.checksums.isEmpty || !(options.sums + options.metalinks + options.from).isEmpty else {
            throw Failure(
                .badOption,
                "cannot verify",
                at: files.map(PathText.shown).joined(separator: " "),
                because: "nothing to compare with",
                remedy: "give --checksum, --sums, --metalink or --from"
            )
        }
        guard options.checksums.isEmpty || files.count == 1 else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "--checksum",
                because: "it applies to a single file, but there are several",
                remedy: "use --sums"
            )
        }
        items = files.map { Item(name: PathText.bytes($0)) }
        for checksum in options.checksums {
            items[0].expected.append(Expectation(checksum: checksum, source: "--checksum"))
        }
        for place in options.sums { try add(sums: place) }
        for place in options.metalinks { try add(metalink: place) }
        for url in options.from { try add(from: url) }
    }

    /// Adds what sums files beside the content say; a URL that ends with a slash is the folder of all files.
    private mutating func add(from url: String) throws(Failure) {
        let address = try WebAddress.parse(url).address
        guard url.hasSuffix("/") || items.count == 1 else {
            throw Failure(
                .badOption,
                "cannot use",
                at: "--from \(url)",
                because: "it is one file's URL, but there are several files",
                remedy: "give the URL of their folder, with a slash at the end"
            )
        }
        let origin = OriginSums(address)
        defer { origin.end() }
        for index in items.indices {
            for (checksum, source) in try origin.digests(ofFileAt: items[index].name) {
                items[index].expected.append(Expectation(checksum: checksum, source: source))
            }
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
        guard let sums = SumsFile(bytes) else {
            throw Failure(.badOption, "cannot use", at: place, because: "it is not a sums file")
        }
        for index in items.indices {
            let found = sums.checksums(ofFileAt: items[index].name, isOnly: items.count == 1)
            items[index].expected += found.map { Expectation(checksum: $0, source: place) }
            let name = items[index].name.split(separator: UInt8(ascii: "/")).last ?? [][...]
            if found.isEmpty, sums.names(name) {
                items[index].flaw = "\(place) has different digests of the same algorithm for it"
            }
        }
    }
}

extension SumsFile {
    /// The digests of the file at `path`: those of the entry with the longest end of it, else of its name.
    func checksums(ofFileAt path: [UInt8], isOnly: Bool) -> [Checksum] {
        let parts = path.split(separator: UInt8(ascii: "/")).map { Array($0) }
        guard let name = parts.last else { return [] }
        let fitting = entries.filter { Array(parts.suffix($0.path.count)) == $0.path }
        guard let longest = fitting.map(\.path.count).max(), longest > 1 else {
            return checksums(of: name, isOwn: isOnly)
        }
        let named = fitting.filter { $0.path.count == longest }.map(\.checksum)
        // Two digests of one algorithm contradict each other: none counts.
        let digests = Set(named)
        return Set(digests.map(\.algorithm)).count == digests.count ? Array(digests) : []
    }
}
