import Glibc
import Pawl
import PawlAria2
import PawlBase
import PawlGet
import PawlIntake
import PawlIntegrity
import PawlSystem
import PawlTerminal

/// One download of aria2c's command line, list, Metalink or torrent.
struct Aria2cEntry: Sendable {
    /// The first is the source, the others are mirrors; none if no scheme of them is supported, and then it fails.
    var addresses: [String]
    /// The options below the URL, as written, for the session file.
    var lines: [InputOption] = []
    var options = Aria2cOptions()
    var gid = Download.ID(rawValue: .random(in: 1 ... .max))
    /// The expected size, from a Metalink.
    var length: Int64?
    /// The digests of its pieces, from a Metalink.
    var pieces: PieceHashes?

    init(addresses: [String], lines: [InputOption] = [], options: Aria2cOptions = Aria2cOptions()) {
        self.addresses = addresses.filter(Aria2cEntries.isSupported)
        self.lines = lines
        self.options = options
    }

    /// One of several URLs that are files of their own: one name does not fit them all.
    init(alone address: String, options: Aria2cOptions = Aria2cOptions(), lines: [InputOption] = []) {
        self.init(addresses: [address], lines: lines.filter { $0.name != "out" }, options: options)
        self.options.forget("out")
        self.options.keepToItself("out")
    }

    /// The form that the service loads.
    var input: InputEntry {
        var entry = InputEntry(addresses: addresses, options: lines, line: 0)
        entry.pieces = pieces
        return entry
    }
}

/// Collects the downloads of one run: those of a Metalink, else of a list, else of the operands, as aria2c does.
struct Aria2cEntries: ~Copyable {
    private let options: Aria2cOptions
    private(set) var entries: [Aria2cEntry] = []
    private var gids: Set<Download.ID> = []

    init(_ options: Aria2cOptions) { self.options = options }

    /// Throws for what keeps aria2c from starting; the rest is printed and left out.
    mutating func collect(_ operands: [String], to printer: inout Aria2cPrinter) throws(Failure) {
        if let path = options.path("torrent-file") {
            if options.flag("show-files") { return printer.say(try Aria2cEntries.listing(ofTorrent: path)) }
            entries += try Aria2cEntries.entries(
                ofTorrent: try Aria2cEntries.bytes(at: path), at: path, seeds: operands, options, to: &printer)
        } else if let path = options["metalink-file"] {
            if options.flag("show-files") { return printer.say(try Aria2cEntries.listing(of: path, options)) }
            try add(metalink: path, to: &printer)
        } else if let path = options.path("input-file") {
            try add(list: try Aria2cEntries.bytes(at: path), to: &printer)
        } else {
            guard !operands.isEmpty else {
                throw Failure(
                    .unknown, "cannot start", at: "aria2c", because: "missing URL", remedy: "see 'pawl help aria2c'")
            }
            try add(operands: operands, to: &printer)
        }
    }

    // MARK: operands

    private mutating func add(operands: [String], to printer: inout Aria2cPrinter) throws(Failure) {
        var mirrors: [String] = []
        var words: [String] = []
        for operand in operands { words += try expanded(operand) }
        for operand in words {
            if Aria2cEntries.isAddress(operand) {
                if options.flag("force-sequential") {
                    entries.append(Aria2cEntry(alone: operand))
                } else {
                    mirrors.append(operand)
                }
            } else if Aria2cEntries.isMetalink(operand) {
                if options.flag("show-files") {
                    printer.say(">>> Printing the contents of file '\(TerminalText.harmless(operand))'...\n")
                    printer.say(try Aria2cEntries.listing(of: operand, options))
                } else {
                    try add(metalink: operand, to: &printer)
                }
            } else if operand.lowercased().hasSuffix(".torrent"), nameExists(operand) {
                if options.flag("show-files") {
                    printer.say(">>> Printing the contents of file '\(TerminalText.harmless(operand))'...\n")
                    printer.say(try Aria2cEntries.listing(ofTorrent: operand))
                } else {
                    entries += try Aria2cEntries.entries(
                        ofTorrent: try Aria2cEntries.bytes(at: operand), at: operand, options, to: &printer)
                }
            } else {
                throw Failure(
                    .unknown, "cannot use the URL", at: Redaction.address(operand),
                    because: operand.hasPrefix("magnet:")
                        ? "magnet links need peers, which are not supported"
                        : "unrecognized URI or unsupported protocol")
            }
        }
        if !mirrors.isEmpty { entries.insert(Aria2cEntry(addresses: mirrors), at: 0) }
    }

    private func expanded(_ text: String) throws(Failure) -> [String] {
        guard options.flag("parameterized-uri") else { return [text] }
        do throws(ParameterizedAddress.Fault) { return try ParameterizedAddress.expand(text) } catch {
            throw Failure(.unknown, "cannot expand the URL", at: Redaction.address(text), because: error.words)
        }
    }

    /// Whether aria2c takes it for a URL, whatever its scheme.
    static func isAddress(_ text: String) -> Bool {
        guard let colon = text.firstIndex(of: ":"), colon > text.startIndex, text[colon...].hasPrefix("://") else {
            return false
        }
        return text[colon...].dropFirst(3).first.map { $0 != "/" } ?? false
    }

    /// Whether it has a scheme that is downloaded; the rest is looked at when it starts.
    static func isSupported(_ text: String) -> Bool {
        guard let marks = text.firstRange(of: "://") else { return false }
        return WebAddress.Scheme(text[..<marks.lowerBound].lowercased()) != nil
    }

    // MARK: lists

    private mutating func add(list bytes: [UInt8], to printer: inout Aria2cPrinter) throws(Failure) {
        let (list, faults) = InputFile.parseLeniently(bytes)
        for fault in faults { printer.note(.warn, "Unknown option: \(fault.text)") }
        for item in list {
            for line in item.options where Aria2cRow.named[line.name] == nil {
                printer.note(.warn, "Unknown option:   \(line.name)=\(line.value)")
            }
            if let gid = item.options.last(where: { $0.name == "gid" })?.value,
                Aria2cRow.named["gid"]?.option.normal(gid) == nil
            {
                leaveOut("\(gid) is invalid for GID.", &printer)
                continue
            }
            let own = try Aria2cOptions(item.options)
            let isExpanded = own.over(options).flag("parameterized-uri")
            var addresses: [String] = []
            for address in item.addresses {
                if let metalink = address.hasPrefix("/") || !address.contains("://") ? address : nil,
                    Aria2cEntries.isMetalink(metalink)
                {
                    try add(metalink: metalink, to: &printer)
                } else if Aria2cEntries.isAddress(address) {
                    addresses += isExpanded ? (try? ParameterizedAddress.expand(address)) ?? [] : [address]
                } else {
                    printer.note(.error, "Unrecognized URI or unsupported protocol: \(address)")
                }
            }
            guard !addresses.isEmpty else { continue }
            if own.over(options).flag("force-sequential") {
                for address in addresses {
                    entries.append(Aria2cEntry(alone: address, options: own, lines: item.options))
                }
                continue
            }
            var entry = Aria2cEntry(addresses: addresses, lines: item.options, options: own)
            // The command line's name is not that of every download of a list.
            entry.options.keepToItself("out")
            if let gid = own["gid"].flatMap({ Download.ID($0) }) {
                guard gids.insert(gid).inserted else {
                    leaveOut("GID \(gid) is not unique.", &printer)
                    continue
                }
                entry.gid = gid
            }
            entries.append(entry)
        }
    }

    /// Reports an entry that has no identifier of its own; the others are downloaded.
    private func leaveOut(_ reason: String, _ printer: inout Aria2cPrinter) {
        printer.note(.error, "Exception caught", more: ["Exception: errorCode=1 \(reason)"])
    }

    // MARK: Metalinks

    private static let longest = 64 << 20

    /// The bytes of a file, of standard input for `-`, without gzip's compression.
    package static func bytes(at path: String) throws(Failure) -> [UInt8] {
        do throws(Failure) {
            let bytes = try readBytes(at: path)
            return ContentDecoder.isGzip(bytes) ? Gzip.decompress(bytes, limit: longest) ?? bytes : bytes
        } catch { throw Failure(.unknown, error.what, at: error.place, because: error.why) }
    }

    private static func isMetalink(_ path: String) -> Bool {
        guard !path.contains("://"), Aria2cFiles.length(of: path) != nil,
            let beginning = try? readBytes(at: path, atMost: 4096)
        else { return false }
        return String(decoding: beginning, as: UTF8.self).contains("<metalink")
    }

    private mutating func add(metalink path: String, to printer: inout Aria2cPrinter) throws(Failure) {
        let bytes: [UInt8]
        do throws(Failure) { bytes = try readBytes(at: path) } catch {
            throw Failure(.badOption, error.what, at: error.place, because: error.why)
        }
        let wanted = try Aria2cEntries.entries(of: bytes, at: path, options)
        if wanted.isEmpty, options["select-file"] == nil {
            printer.note(.notice, "No file matched with your preference.")
        }
        entries += wanted
    }

    /// The entries of a Metalink's selected files.
    ///
    /// Throws code 20 for a damaged one.
    static func entries(
        of bytes: [UInt8], at path: String, _ options: Aria2cOptions, base: WebAddress? = nil
    ) throws(Failure) -> [Aria2cEntry] {
        var entries: [Aria2cEntry] = []
        let scheme = options["metalink-preferred-protocol"]
        for file in try files(of: bytes, at: path, options, base: base) {
            let sources = file.sources(preferring: scheme, near: options["metalink-location"]).map(\.text)
            // aria2's option has one digest only.
            let addresses = DigestFragment.stating(Array(file.checksums.dropFirst()), in: sources)
            var lines = [InputOption(name: "out", value: (file.folders + [file.name]).joined(separator: "/"), line: 0)]
            if let checksum = file.checksums.first {
                lines.append(InputOption(name: "checksum", value: checksum.text, line: 0))
            }
            var entry = Aria2cEntry(addresses: addresses, lines: lines, options: try Aria2cOptions(lines))
            entry.length = file.size
            entry.pieces = file.pieces
            entries.append(entry)
        }
        return entries
    }

    private static func files(
        of bytes: [UInt8], at path: String, _ options: Aria2cOptions, base: WebAddress? = nil
    ) throws(Failure) -> [Metalink.File] {
        let metalink: Metalink
        let given = options["metalink-base-uri"].flatMap { (try? WebAddress.parse($0))?.address }
        do throws(Metalink.Fault) { metalink = try Metalink(bytes, base: given ?? base) } catch {
            throw Failure(.metalink, "cannot use the Metalink", at: path, because: error.words)
        }
        let files = metalink.files.filter { file in
            [
                (options["metalink-language"], file.languages), (options["metalink-os"], file.systems),
                (options["metalink-version"], file.version.map { [$0] } ?? []),
            ].allSatisfy { wanted, there in wanted.map { $0.isEmpty || there.contains($0) } ?? true }
        }
        let chosen = options["select-file"].flatMap(Aria2Option.fileNumbers) ?? []
        guard !chosen.isEmpty else { return files }
        return files.enumerated().filter { file in chosen.contains { $0.contains(file.offset + 1) } }.map(\.element)
    }

    private static func listing(of path: String, _ options: Aria2cOptions) throws(Failure) -> String {
        var all = options
        all.forget("select-file")
        let files = try files(of: try bytes(at: path), at: path, all)
        return Aria2cText.files(files.map { ((($0.folders + [$0.name]).joined(separator: "/")), $0.size) })
    }
}

extension Failure.Code {
    /// aria2's code for a Metalink that cannot be parsed.
    static let metalink = Failure.Code(rawValue: 20)
}
