package import PawlBase
import PawlHTTP

/// A hub's listings; requests block the calling thread.
package struct HubClient: Sendable {
    /// The files of a repository at one commit.
    package struct Listing: Sendable {
        package var address: HubAddress
        package var commit: String
        /// All files, in the hub's order.
        package var entries: [HubEntry] = []
        package var refused: [HubPage.Refused] = []

        /// Those that the address names: one file, those of a folder, or all.
        package var selected: [HubEntry] {
            guard !address.path.isEmpty else { return entries }
            if let file = entries.first(where: { $0.path.hasSameBytes(as: address.path) }) { return [file] }
            let start = (address.path + "/").utf8
            return entries.filter { $0.path.utf8.starts(with: start) }
        }

        /// Whether the address names one file.
        package var isFile: Bool { entries.contains { $0.path.hasSameBytes(as: address.path) } }

        /// The address of a file at the commit.
        package func address(of entry: HubEntry) -> String { address.at(commit, path: entry.path).text }
    }

    package let access: HubAccess
    private let client: HTTPClient
    private let policy: RetryPolicy

    package static let mostEntries = 1_000_000
    package static let mostPages = 10_000
    /// One after another.
    private static let mostEmptyPages = 8

    /// `patience`: the longest time without data, in seconds.
    package init(_ access: HubAccess, _ settings: TransferSettings, patience: Double, policy: RetryPolicy) {
        self.access = access
        client = HTTPClient(settings, patience: patience)
        self.policy = policy
    }

    /// The commit of the revision, and every file that it has.
    ///
    /// Throws code 3 where nothing is there, 24 where the hub refuses, 22 for a listing that is none.
    package func list(_ address: HubAddress) throws(Failure) -> Listing {
        let commit = try commit(of: address)
        var listing = Listing(address: address, commit: commit)
        var next: WebAddress? = access.url(address.at(commit, path: "").treePath, query: "recursive=true&expand=false")
        var seen: Set<WebAddress> = []
        var empty = 0
        var paths: Set<Bytewise<String>> = []
        while let url = next {
            guard seen.insert(url).inserted, seen.count <= Self.mostPages, empty <= Self.mostEmptyPages,
                paths.count <= Self.mostEntries
            else {
                throw Failure(
                    .badResponse, "cannot list", at: address.text, because: "the listing repeats itself or has no end")
            }
            let (head, body) = try get(url, limit: HubPage.longest)
            let page = try HubPage(body, at: url.redacted)
            listing.refused += page.refused
            for entry in page.entries {
                guard paths.insert(Bytewise(entry.path)).inserted else {
                    throw Failure(
                        .badResponse, "cannot list", at: address.text,
                        because: "the listing names \(Redaction.printable(entry.path)) twice")
                }
                listing.entries.append(entry)
            }
            next = try HubPage.next(after: url, head)
            empty = page.entries.isEmpty ? empty + 1 : 0
        }
        guard !listing.selected.isEmpty || address.path.isEmpty else {
            throw Failure(
                .notFound, "cannot list", at: address.text,
                because: HubRefusal.noEntry,
                remedy: "check the path")
        }
        return listing
    }

    private func commit(of address: HubAddress) throws(Failure) -> String {
        if let revision = address.revision, HubAddress.isCommit(revision) { return revision }
        let (_, body) = try get(access.url(address.revisionPath), limit: HubRevision.longest)
        guard let commit = HubRevision.commit(body) else {
            throw Failure(
                .badResponse, "cannot list", at: address.text,
                because: "\(access.endpoint.authority) did not respond as a hub does: it states no commit",
                remedy: "check HF_ENDPOINT and \(.option(.endpoint))")
        }
        return commit
    }

    private func get(_ url: WebAddress, limit: Int) throws(Failure) -> (head: ResponseHead, body: [UInt8]) {
        try client.get(url, to: "cannot list", limit: limit, policy: policy) { () throws(Failure) in
            access.lines(to: url)
        } refusal: { head, _ in
            200..<300 ~= head.status ? nil : HubRefusal(head, access).stated
        }
    }
}
