import Glibc
import Pawl
import PawlBase
import PawlIntegrity
import PawlSystem
import Synchronization

// As `aria2c`, the service also downloads the files of a Metalink that was downloaded from a URL.
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
        guard let details = try? await manager.details(of: [id], looking: false).first else { return }
        _ = await followers(of: details)
    }

    private func isFollowed(_ details: DownloadDetails) -> Bool {
        let snapshot = details.snapshot
        guard snapshot.state == .finished, details.options.attributes[Aria2Options.standInMark] != nil,
            Aria2Options.remembered(in: details.options.attributes)["follow-metalink"] != "false"
        else { return false }
        let name = (snapshot.name ?? "").lowercased()
        return snapshot.contentType?.hasPrefix("application/metalink") == true || name.hasSuffix(".meta4")
            || name.hasSuffix(".metalink")
    }

    private func addFollowers(of details: DownloadDetails) async -> [Download.ID] {
        let snapshot = details.snapshot
        let path = ((try? await manager.ownFile(of: snapshot.id)) ?? nil)?.path
        let base = details.sources.first.flatMap { (try? WebAddress.parse($0))?.address }
        guard let bytes = path.flatMap(Self.read), let metalink = try? Metalink(bytes, base: base) else { return [] }
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
        for index in requests.indices {
            requests[index].options.attributes[Self.followingMark] = snapshot.id.description
        }
        let ids = (try? await add(requests)) ?? []
        if !ids.isEmpty, given["follow-metalink"] == "mem" { try? await manager.removeFile(of: snapshot.id) }
        return ids
    }

    /// A larger file is not a Metalink.
    private static let longest = 8 << 20

    private static func read(_ path: String) -> [UInt8]? {
        let bytes = try? BoundedRead.file(path, atMost: longest + 1, isRegular: true)
        return bytes.flatMap { $0.count <= longest ? $0 : nil }
    }
}
