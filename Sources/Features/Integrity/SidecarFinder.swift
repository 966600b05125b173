import PawlBase
import PawlDisk
package import PawlJournal
import PawlSystem
import Synchronization

/// Requests the sums files beside contents, and their signatures: those of a folder once for all of its files.
///
/// Each is requested from the content's own host, with its login; of one above the limit, or on another host, nothing
/// counts. A server that is slow to deny them does not hold the content up for long: the search is given up then.
package final class SidecarFinder: DigestFinder {
    /// A sums file that was found, and what it is worth.
    private struct Sums: Sendable {
        var sums: SumsFile
        var level: VerificationLevel
        var source: String
    }

    /// The search for one download; nothing more is requested after `end`.
    private struct Search: Sendable {
        var terms: FetchTerms
        var keys: SigningKeys
        var end: Instant
    }

    private struct FolderKey: Hashable {
        var address: String
        var settings: SettingsID
        var keys: SigningKeys
    }

    private enum Folder {
        case waiting([@Sendable ([Sums]) -> Void])
        case known([Sums])
    }

    private struct State { var folders: [FolderKey: Folder] = [:] }

    /// The time after which a search makes no more requests.
    private static let patience = Interval.seconds(20)
    /// The maximum size of a Metalink that a response links to.
    private static let longestDescription = 4 << 20
    /// How much longer the last of them may take, even if the server sends a byte now and then.
    private static let grace = Interval.seconds(10)
    /// Folders that are remembered; beyond that all known ones are forgotten.
    private static let mostFolders = 1024

    private let fetcher: any ContentFetching
    private let state = Mutex(State())
    private let signatures: SystemSignatures?

    /// Without `signatures` none is good.
    package init(fetcher: any ContentFetching, signatures: SystemSignatures?) {
        self.fetcher = fetcher
        self.signatures = signatures
    }

    package func find(_ order: DigestSearch, completion: @escaping @Sendable (FoundDigests) -> Void) {
        describe(order) { [self] described in
            guard order.hasSums else { return completion(described) }
            findSums(order) { sums in
                completion(FoundDigests(described.digests + sums, sources: described.sources))
            }
        }
    }

    private func begin(_ order: DigestSearch) -> Search {
        Search(terms: order.terms, keys: order.keys, end: fetcher.clock.now + Self.patience)
    }

    /// Requests the Metalink that the content's response named.
    private func describe(_ order: DigestSearch, completion: @escaping @Sendable (FoundDigests) -> Void) {
        guard let description = order.description else { return completion(FoundDigests()) }
        fetch(description, in: begin(order), limit: Self.longestDescription) { response in
            guard let response, let metalink = try? Metalink(response.bytes, base: description, needsSources: false)
            else { return completion(FoundDigests()) }
            completion(FoundDigests(metalink, of: order.address, source: description.redacted))
        }
    }

    private func findSums(_ order: DigestSearch, completion: @escaping @Sendable ([ExpectedDigest]) -> Void) {
        let address = order.address
        guard let name = SidecarNames.name(of: address) else { return completion([]) }
        let search = begin(order)
        let own = SidecarNames.own.flatMap { ending in
            [false, true].compactMap { keepsQuery in
                keepsQuery && address.query == nil
                    ? nil : SidecarNames.address(address, appending: ending, keepsQuery: keepsQuery)
            }
        }
        collect(own[...], in: search) { [self] own in
            common(beside: address, in: search) { common in
                let found = Self.digests(own, of: name, isOwn: true) + Self.digests(common, of: name, isOwn: false)
                completion(found)
            }
        }
    }

    private static func digests(_ all: [Sums], of name: [UInt8], isOwn: Bool) -> [ExpectedDigest] {
        all.flatMap { sums in
            sums.sums.checksums(of: name, isOwn: isOwn).map {
                ExpectedDigest($0, or: sums.sums.alternatives(to: $0), level: sums.level, source: sums.source)
            }
        }
    }

    /// The sums files of the folder; the first to need them requests them.
    private func common(beside address: WebAddress, in search: Search, completion: @escaping @Sendable ([Sums]) -> Void)
    {
        let folder = SidecarNames.address(address, inFolder: "")
        let key = FolderKey(address: folder.text, settings: search.terms.settings.id, keys: search.keys)
        let (known, isFirst) = state.withLock { state -> ([Sums]?, Bool) in
            switch state.folders[key] {
            case .known(let sums): return (sums, false)
            case .waiting(let others):
                state.folders[key] = .waiting(others + [completion])
                return (nil, false)
            case nil:
                if state.folders.count >= Self.mostFolders {
                    state.folders = state.folders.filter { if case .waiting = $0.value { true } else { false } }
                }
                state.folders[key] = .waiting([completion])
                return (nil, true)
            }
        }
        if let known { return completion(known) }
        guard isFirst else { return }
        let addresses = SidecarNames.common.map { SidecarNames.address(address, inFolder: $0) }
        collect(addresses[...], in: search) { [self] sums in
            let waiting = state.withLock { state -> [@Sendable ([Sums]) -> Void] in
                guard case .waiting(let waiting) = state.folders[key] else { return [] }
                state.folders[key] = .known(sums)
                return waiting
            }
            for completion in waiting { completion(sums) }
        }
    }

    /// Requests one after another: the content's own connections come first.
    private func collect(
        _ addresses: ArraySlice<WebAddress>, in search: Search, found: [Sums] = [],
        completion: @escaping @Sendable ([Sums]) -> Void
    ) {
        guard let address = addresses.first else { return completion(found) }
        fetch(address, in: search) { [self] response in
            guard let response, !response.isPage, let sums = Self.sums(response.bytes, at: address) else {
                return collect(addresses.dropFirst(), in: search, found: found, completion: completion)
            }
            sign(response.bytes, sums, at: address, in: search) { [self] sums in
                collect(addresses.dropFirst(), in: search, found: found + [sums], completion: completion)
            }
        }
    }

    private static func sums(_ text: [UInt8], at address: WebAddress) -> SumsFile? {
        SumsFile(text, named: SidecarNames.name(of: address) ?? [])
    }

    // MARK: signatures

    private func sign(
        _ text: [UInt8], _ sums: SumsFile, at address: WebAddress, in search: Search,
        completion: @escaping @Sendable (Sums) -> Void
    ) {
        let plain = Sums(sums: sums, level: .sidecar, source: address.redacted)
        let keys = search.keys
        guard let signatures, !keys.isEmpty else { return completion(plain) }
        let finish: @Sendable ([UInt8]?) -> Void = { signed in
            guard let signed, let sums = Self.sums(signed, at: address) else { return completion(plain) }
            completion(Sums(sums: sums, level: .signed, source: address.redacted))
        }
        if let message = ClearSignedText(text)?.message {
            guard keys.keyring != nil else { return completion(plain) }
            return signatures.verify(message, signature: nil, keys: keys, completion: finish)
        }
        let endings = SidecarNames.signatures.filter { ending in
            ending == ".minisig" ? keys.minisign != nil : keys.keyring != nil
        }
        verify(text, with: endings[...], at: address, in: search, completion: finish)
    }

    private func verify(
        _ text: [UInt8], with endings: ArraySlice<String>, at address: WebAddress, in search: Search,
        completion: @escaping @Sendable ([UInt8]?) -> Void
    ) {
        guard let ending = endings.first, let signatures else { return completion(nil) }
        let next: @Sendable () -> Void = { [self] in
            verify(text, with: endings.dropFirst(), at: address, in: search, completion: completion)
        }
        fetch(SidecarNames.address(address, appending: ending, keepsQuery: true), in: search) { response in
            guard let response, !response.isPage else { return next() }
            var keys = search.keys
            if ending == ".minisig" { keys.keyring = nil } else { keys.minisign = nil }
            signatures.verify(text, signature: response.bytes, keys: keys) { signed in
                if let signed { completion(signed) } else { next() }
            }
        }
    }

    // MARK: requests

    /// `nil` for anything but a complete response of the same host.
    private func fetch(
        _ address: WebAddress, in search: Search, limit: Int = SumsFile.longest,
        completion: @escaping @Sendable (FetchedContent?) -> Void
    ) {
        guard fetcher.clock.now < search.end else { return completion(nil) }
        fetcher.fetch(
            address, on: search.terms, limit: limit, before: search.end + Self.grace
        ) { completion($0?.decoded(limit: limit)) }
    }
}

extension FetchedContent {
    /// Decodes gzip, which some servers apply to every text; `nil` for other codings.
    fileprivate func decoded(limit: Int) -> FetchedContent? {
        guard let coding = coding?.lowercased() else { return self }
        guard ["gzip", "x-gzip"].contains(coding), let plain = Gzip.decompress(bytes, limit: limit) else { return nil }
        return FetchedContent(bytes: plain, contentType: contentType, coding: nil)
    }

    /// A page that says that there is no such file, or lists the folder.
    fileprivate var isPage: Bool {
        let type = contentType.flatMap { MediaType.name(in: $0) }
        if type == "text/html" || type == "application/xhtml+xml" { return true }
        return bytes.first { !$0.isWhiteSpace } == .less
    }
}
