package import PawlBase

/// What the Link fields of a response refer to (RFC 6249): a description of its content, and duplicates of it.
package struct DescribedSources: Hashable, Sendable {
    package var description: WebAddress?
    /// Duplicates, the best one first.
    package var duplicates: [WebAddress] = []

    /// The maximum number of duplicates that are used.
    package static let most = 8

    package init(description: WebAddress? = nil, duplicates: [WebAddress] = []) {
        self.description = description
        self.duplicates = duplicates
    }

    /// Reads a Link field of a response of `address`.
    ///
    /// A description is used only from the content's own host, and no link is less secure than the content, unless
    /// `allowsDowngrade`.
    package init(_ field: String, of address: WebAddress, allowsDowngrade: Bool) {
        func target(_ link: WebLink) -> WebAddress? {
            guard let target = try? address.resolving(link.target), target != address,
                target.scheme.isSecure || !address.scheme.isSecure || allowsDowngrade
            else { return nil }
            return target
        }
        let links = WebLink.parse(field)
        description = links.lazy.filter { $0.relations.contains("describedby") && $0.describesContent }.compactMap(
            target
        )
        .first { $0.host == address.host && $0.isWeb }
        // 1 is best (RFC 6249 §3.1).
        let ranked = links.enumerated().filter { $0.element.relations.contains("duplicate") }.map {
            (rank: $0.element["pri"].flatMap { Int($0) } ?? .max, place: $0.offset, link: $0.element)
        }.sorted { ($0.rank, $0.place) < ($1.rank, $1.place) }
        add(ranked.compactMap { target($0.link) })
    }

    /// Adds the other URLs of the content that its description lists.
    package mutating func add(_ addresses: [WebAddress]) {
        for address in addresses where duplicates.count < Self.most && !duplicates.contains(address) {
            duplicates.append(address)
        }
    }
}

extension WebAddress { package var isWeb: Bool { scheme == .http || scheme == .https } }

extension WebLink {
    /// Links to other kinds of descriptions, such as those of web pages, are common.
    fileprivate var describesContent: Bool {
        if let type = self["type"].flatMap({ MediaType.name(in: $0) }) {
            return type == "application/metalink4+xml" || type == "application/metalink+xml"
        }
        return target.hasSuffix(".meta4") || target.hasSuffix(".metalink")
    }
}

/// The result of the search for digests outside of the response.
package struct FoundDigests: Hashable, Sendable {
    package var digests: [ExpectedDigest] = []
    /// Other URLs of the content, from its description.
    package var sources: [WebAddress] = []

    package init(_ digests: [ExpectedDigest] = [], sources: [WebAddress] = []) {
        self.digests = digests
        self.sources = sources
    }
}
