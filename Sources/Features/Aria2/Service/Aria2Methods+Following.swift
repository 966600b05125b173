import Glibc
import Pawl
import PawlBase
import PawlIntegrity
import PawlSystem
import Synchronization

// As `aria2c`, the service also downloads the files of a Metalink or torrent that was downloaded from a URL.
extension Aria2Methods {
    /// The attribute with the download whose Metalink names this one.
    static let followingMark = "following"

    /// The downloads that follow this one; waits until they are in the queue.
    ///
    /// They are added by the event of the Metalink's end, or by the first call about it, so that no client
    /// sees a complete Metalink without them.
    func followers(of details: DownloadDetails) async -> [Download.ID] {
        let id = details.snapshot.id
        let task: Task<[Download.ID], Never>? = settings.followers.withLock { followers in
            if let task = followers[id] { return task }
            guard settings.isStandIn, isFollowed(details) else { return nil }
            let task = Task { await addFollowers(of: details) }
            followers[id] = task
            return task
        }
        return await task?.value ?? []
    }

    /// Adds what follows a download that has finished.
    func follow(_ id: Download.ID) async {
        guard let details = try? await manager.details(of: [id], includingConnections: false).first else { return }
        _ = await followers(of: details)
    }

    private func isFollowed(_ details: DownloadDetails) -> Bool {
        let snapshot = details.snapshot
        guard snapshot.state == .finished, details.options.attributes[Aria2Options.standInMark] != nil else {
            return false
        }
        let options = Aria2Options.remembered(in: details.options.attributes)
        if isTorrent(snapshot) { return options["follow-torrent"] != "false" }
        let name = (snapshot.name ?? "").lowercased()
        return options["follow-metalink"] != "false"
            && (snapshot.contentType?.hasPrefix("application/metalink") == true || name.hasSuffix(".meta4")
                || name.hasSuffix(".metalink"))
    }

    private func isTorrent(_ snapshot: DownloadSnapshot) -> Bool {
        snapshot.contentType?.hasPrefix("application/x-bittorrent") == true
            || (snapshot.name ?? "").lowercased().hasSuffix(".torrent")
    }

    private func addFollowers(of details: DownloadDetails) async -> [Download.ID] {
        let snapshot = details.snapshot
        let path = ((try? await manager.ownFile(of: snapshot.id)) ?? nil)?.path
        let base = details.sources.first.flatMap { (try? WebAddress.parse($0))?.address }
        guard let bytes = path.flatMap(Self.read) else { return [] }
        if isTorrent(snapshot) { return await addFiles(ofTorrent: bytes, details) }
        guard let metalink = try? Metalink(bytes, base: base) else { return [] }
        // Credentials for the Metalink's server are not sent to the servers that it lists.
        let stays = metalink.files.allSatisfy { file in
            file.sources(preferring: nil, near: nil).allSatisfy { $0.origin == base?.origin }
        }
        let options = Aria2Options.remembered(in: details.options.attributes)
        let given = stays ? options : options.withoutSecrets
        guard
            var requests = try? given.requests(
                metalink, root: settings.root, usesOwnersSecrets: details.options.usesOwnersSecrets)
        else { return [] }
        return await add(&requests, following: snapshot.id, keepsFile: given["follow-metalink"] != "mem")
    }

    /// Credentials for the torrent's server are not sent to the servers that it lists.
    private func addFiles(ofTorrent bytes: [UInt8], _ details: DownloadDetails) async -> [Download.ID] {
        let options = Aria2Options.remembered(in: details.options.attributes).withoutSecrets
        guard
            var requests = try? await requests(
                ofTorrent: bytes, options, usesOwnersSecrets: details.options.usesOwnersSecrets)
        else { return [] }
        return await add(&requests, following: details.snapshot.id, keepsFile: options["follow-torrent"] != "mem")
    }

    private func add(
        _ requests: inout [DownloadRequest], following id: Download.ID, keepsFile: Bool
    ) async -> [Download.ID] {
        for index in requests.indices { requests[index].options.attributes[Self.followingMark] = id.description }
        let ids = (try? await add(requests)) ?? []
        if !ids.isEmpty, !keepsFile { try? await manager.removeFile(of: id) }
        return ids
    }

    /// A larger file is not a Metalink.
    private static let longest = 8 << 20

    private static func read(_ path: String) -> [UInt8]? {
        let bytes = try? BoundedRead.file(path, atMost: longest + 1, isRegular: true)
        return bytes.flatMap { $0.count <= longest ? $0 : nil }
    }
}
