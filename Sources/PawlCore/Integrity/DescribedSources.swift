/// What the links of a response name beside its content (RFC 6249): its Metalink, and further addresses of it.
package struct DescribedSources: Hashable, Sendable {
    /// The Metalink that describes the content.
    package var description: WebAddress?
    /// Duplicates, the best one first.
    package var duplicates: [WebAddress] = []

    /// The most duplicates that count.
    package static let most = 8

    package init(description: WebAddress? = nil, duplicates: [WebAddress] = []) {
        self.description = description
        self.duplicates = duplicates
    }

    /// Reads a Link field of a response of `address`.
    ///
    /// A description counts on the content's own host only. None is less secure than the content, unless
    /// `allowsDowngrade`.
    package init(_ field: String, of address: WebAddress, allowsDowngrade: Bool) {
        func target(_ link: WebLink) -> WebAddress? {
            guard let target = try? address.resolving(link.target), target != address,
                target.scheme.isSecure || !address.scheme.isSecure || allowsDowngrade
            else { return nil }
            return target
        }
        let links = WebLink.parse(field)
        description = links.lazy.filter { $0.relations.contains("describedby") && $0.isMetalink }
            .compactMap(target).first { $0.host == address.host && $0.isWeb }
        // 1 is best (RFC 6249 §3.1).
        let ranked = links.enumerated().filter { $0.element.relations.contains("duplicate") }
            .map { (rank: $0.element["pri"].flatMap { Int($0) } ?? .max, place: $0.offset, link: $0.element) }
            .sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
        add(ranked.compactMap { target($0.link) })
    }

    /// Adds the content's further addresses, as a description lists them.
    package mutating func add(_ addresses: [WebAddress]) {
        for address in addresses where duplicates.count < Self.most && !duplicates.contains(address) {
            duplicates.append(address)
        }
    }
}

extension WebAddress {
    var isWeb: Bool { scheme == .http || scheme == .https }
}

extension WebLink {
    /// Links to other descriptions, such as a page's, are common.
    fileprivate var isMetalink: Bool {
        if let type = self["type"].flatMap({ MediaType.name(in: $0) }) {
            return type == "application/metalink4+xml" || type == "application/metalink+xml"
        }
        return target.hasSuffix(".meta4") || target.hasSuffix(".metalink")
    }
}

/// What a search beside the content has found.
package struct FoundDigests: Hashable, Sendable {
    package var digests: [ExpectedDigest] = []
    /// Further addresses of the content, by its description.
    package var sources: [WebAddress] = []

    package init(_ digests: [ExpectedDigest] = [], sources: [WebAddress] = []) {
        self.digests = digests
        self.sources = sources
    }

    /// What a Metalink states of the file that `address` names; nothing where it describes another one.
    package init(_ metalink: Metalink, of address: WebAddress, source: String) {
        guard let name = SidecarNames.name(of: address) else { return }
        let safe = FileName.safe(String(decoding: name, as: UTF8.self))
        let files = metalink.files.filter { $0.name == safe }
        guard files.count == 1 else { return }
        digests = files[0].checksums.map { ExpectedDigest($0, level: .origin, source: source) }
        sources = files[0].sources.map(\.address)
    }
}
