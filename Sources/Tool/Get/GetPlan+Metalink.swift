import Pawl
import PawlBase
import PawlIntake

extension GetPlan.Item {
    /// One item per file of a Metalink, in the form of an input file.
    static func items(ofMetalink bytes: [UInt8], at path: String) throws(Failure) -> [GetPlan.Item] {
        try DroppedContent.entries(ofMetalink: bytes, named: path).map { GetPlan.Item($0) }
    }

    /// The downloads of an input file; a Metalink, and commands of curl, wget and aria2c, are recognized by their content.
    static func items(ofList bytes: [UInt8], named name: String) throws(Failure) -> [GetPlan.Item] {
        switch try DroppedContent(bytes, named: name) {
        case .entries(let entries), .list(let entries): return entries.map { GetPlan.Item($0) }
        case .torrent: return [GetPlan.Item(torrent: bytes, at: name)]
        case .text: return try InputFile.parse(bytes, name: name).map { GetPlan.Item($0) }
        }
    }

    /// The downloads of an argument: a URL, a command of curl, wget or aria2c, or the name of a Metalink or torrent.
    static func items(
        of source: String, readingWith read: (String) throws(Failure) -> [UInt8]
    ) throws(Failure) -> [GetPlan.Item] {
        if TransferCommand.isCommand(source) { return try TransferCommand.entries(in: source).map { GetPlan.Item($0) } }
        let isList = [".torrent", ".metalink", ".meta4"].contains { source.lowercased().hasSuffix($0) }
        // A URL without its scheme may end like this as well.
        if isList, !source.contains("://"), let bytes = try? read(source) {
            switch try DroppedContent(bytes, named: source) {
            case .entries(let entries): return entries.map { GetPlan.Item($0) }
            case .torrent: return [GetPlan.Item(torrent: bytes, at: source)]
            case .list, .text: break
            }
        }
        return [GetPlan.Item(source: source, mirrors: [], lines: [])]
    }

    private init(torrent bytes: [UInt8], at place: String) {
        self.init(source: CollectionSource.text(ofTorrent: bytes, named: place), mirrors: [], lines: [])
    }

    /// The torrent at a path or a URL.
    init(
        torrentAt place: String, _ options: GetOptions, readingWith read: (String) throws(Failure) -> [UInt8]
    ) throws(Failure) {
        guard place.contains("://") else {
            self.init(torrent: try read(place), at: place == "-" ? "standard input" : place)
            return
        }
        let own = try options.transferOptions()
        let downloader = Downloader(options.connections)
        defer { downloader.shutDownAndWait() }
        do throws(PawlError) {
            let bytes = try downloader.content(
                of: place, maximumSize: CollectionSource.longestTorrent, options: own)
            self.init(torrent: bytes, at: Redaction.address(place))
        } catch { throw error.failure }
    }

    private init(_ entry: InputEntry) {
        self.init(
            source: entry.addresses.first ?? "", mirrors: Array(entry.addresses.dropFirst()),
            line: entry.line == 0 ? nil : entry.line, lines: entry.options.givenTogether)
        pieces = entry.pieces
    }
}

extension [InputOption] {
    /// As an input file has them: the password behind the user's name, and the name of a Metalink's file as a path.
    fileprivate var givenTogether: [InputOption] {
        let password = first { $0.name == "password" }?.value
        return filter { $0.name != "password" }.map { option in
            var option = option
            if option.name == "user", let password { option.value += ":\(password)" }
            // Not `-`, nor a folder of somebody.
            if option.name == "output", option.line == 0 { option.value = "./" + option.value }
            return option
        }
    }
}
