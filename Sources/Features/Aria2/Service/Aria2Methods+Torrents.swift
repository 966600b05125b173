import Pawl
import PawlBase
import PawlCollections
import PawlSystem
import PawlWeb

// Torrents, from their web seeds: each file is a download of its own.
extension Aria2Methods {
    /// The download of the first file; the others belong to it.
    func addTorrent(_ parameters: RPCParameters) async throws -> JSON {
        guard let bytes = Base64.decode(try parameters.text(0).utf8) else {
            throw RPCError("The parameter at 0 is not base64.")
        }
        let seeds = try parameters.optionalTexts(1) ?? []
        let options = try options(parameters, 2)
        let position = try position(parameters, 3)
        let requests = try await requests(
            ofTorrent: bytes, seeds: seeds, options, usesOwnersSecrets: parameters.rights.mayNameFiles)
        guard let first = try await add(requests, at: position).first else {
            throw RPCError("No file of the torrent is selected.")
        }
        return .string(first.description)
    }

    /// A request for each selected file, once the digests of its pieces are known.
    func requests(
        ofTorrent bytes: [UInt8], seeds: [String] = [], _ options: Aria2Options, usesOwnersSecrets: Bool
    ) async throws(RPCError) -> [DownloadRequest] {
        let (torrent, entries): (TorrentDownloads, [CollectionEntry])
        do throws(Failure) {
            var named = try TorrentDownloads(bytes, at: "the torrent")
            named.add(webSeeds: seeds)
            torrent = named
            var common = DownloadOptions()
            try options.apply(to: &common, of: torrent.server)
            common.usesOwnersSecrets = usesOwnersSecrets
            let numbers = options["select-file"].flatMap(Aria2Option.fileNumbers) ?? []
            entries = try await Self.entries(of: torrent, numbers, common, manager.connections)
        } catch { throw RPCError(Int(error.code.rawValue), error.description) }
        return try requests(entries, of: torrent, options, usesOwnersSecrets: usesOwnersSecrets)
    }

    /// On a thread of its own: bytes of neighbouring files may be fetched for it.
    private static func entries(
        of torrent: TorrentDownloads, _ numbers: [ClosedRange<Int>], _ options: DownloadOptions,
        _ configuration: Downloader.Configuration
    ) async throws(Failure) -> [CollectionEntry] {
        let result = await withCheckedContinuation { continuation in
            SystemThread.detached("pawl-torrent", blocksSignals: true) {
                continuation.resume(
                    returning: Result { () throws(Failure) in try torrent.entries(numbers, options, configuration) })
            }
        }
        return try result.get()
    }

    private func requests(
        _ entries: [CollectionEntry], of torrent: TorrentDownloads, _ options: Aria2Options, usesOwnersSecrets: Bool
    ) throws(RPCError) -> [DownloadRequest] {
        var requests: [DownloadRequest] = []
        // Known before they are added, so that the others can name it.
        let leader = options["gid"].flatMap { Download.ID($0) } ?? Download.ID(rawValue: .random(in: 1 ... .max))
        for entry in entries {
            var request = try options.naming(entry.path, checksum: entry.checksum).request(
                entry.address, mirrors: entry.mirrors, root: settings.root)
            (request.pieces, request.options.expectedLength) = (entry.pieces, entry.size)
            request.options.usesOwnersSecrets = usesOwnersSecrets
            request.options.attributes[TorrentMark.hash] = torrent.infoHash
            request.options.attributes[TorrentMark.name] = entry.path
            if requests.isEmpty {
                request.id = leader
            } else {
                request.options.attributes[TorrentMark.leader] = leader.description
            }
            requests.append(request)
        }
        return requests
    }
}

/// The attributes of downloads that are files of a torrent.
enum TorrentMark {
    static let hash = "torrent.hash"
    /// The path of the file, which clients show as the name of the torrent.
    static let name = "torrent.name"
    /// The download of the first file.
    static let leader = "torrent.leader"
}

extension Aria2Status {
    /// What clients look for in a torrent; none for other downloads.
    var torrentMembers: [JSON.Member] {
        let attributes = details.options.attributes
        guard let hash = attributes[TorrentMark.hash], let name = attributes[TorrentMark.name] else { return [] }
        var members = [
            JSON.Member("infoHash", .string(hash)), JSON.Member("numSeeders", "0"), JSON.Member("seeder", "false"),
            JSON.Member("bittorrent", ["announceList": [], "mode": "single", "info": ["name": .string(name)]]),
        ]
        if let leader = attributes[TorrentMark.leader] { members.append(JSON.Member("belongsTo", .string(leader))) }
        return members
    }
}
