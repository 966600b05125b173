import Pawl
import PawlAria2
import PawlBase
import PawlCollections
import PawlGet
import PawlIntake

// The files of torrents, from their web seeds.
extension Aria2cEntries {
    /// The entries of a torrent's selected files; bytes of pieces of several files are fetched for it.
    ///
    /// `seeds`: further servers. What can be no file is printed and left out.
    static func entries(
        ofTorrent bytes: [UInt8], at path: String, seeds: [String] = [], _ options: Aria2cOptions,
        to printer: inout Aria2cPrinter
    ) throws(Failure) -> [Aria2cEntry] {
        var torrent = try TorrentDownloads(bytes, at: path)
        torrent.add(webSeeds: seeds)
        var download = DownloadOptions()
        try Aria2Options(options.values).apply(to: &download, of: torrent.server)
        let numbers = options["select-file"].flatMap(Aria2Option.fileNumbers) ?? []
        var entries: [Aria2cEntry] = []
        let files = try torrent.entries(numbers, download, Downloader.Configuration()) { failure in
            printer.note(.error, failure.description)
        }
        for file in files {
            var lines = [InputOption(name: "out", value: file.path, line: 0)]
            if let checksum = file.checksum { lines.append(InputOption(name: "checksum", value: checksum, line: 0)) }
            var entry = Aria2cEntry(
                addresses: [file.address] + file.mirrors, lines: lines, options: try Aria2cOptions(lines))
            (entry.length, entry.pieces) = (file.size, file.pieces)
            entries.append(entry)
        }
        return entries
    }

    static func listing(ofTorrent path: String) throws(Failure) -> String {
        let torrent = try TorrentDownloads(try bytes(at: path), at: path)
        return Aria2cText.files(torrent.files.map { ($0.path ?? "", $0.length) })
    }
}
