// Login and error pages in place of the content.
import PawlBase

extension Judge {
    /// The verdict on a login or error page with status 200 in place of other known content.
    func pageVerdict(_ response: AcceptedResponse) -> Verdict? {
        guard let known else { return pageInsteadOfFormer(response) }
        guard response.evidence != .strong else { return nil }
        let size = response.identity.total
        // An unknown size is doubted where one was known, as is a smaller one than that of the bytes on disk.
        let hasOtherSize = known.total.map { $0 != size } ?? (size.map { $0 < held } ?? false)
        let isBare = hasOtherSize && response.identity.validators.isEmpty
        let bare = LocalizableMessage(
            "size-differs-no-validators", "its size differs, and it has neither ETag nor Last-Modified")
        let type = response.identity.mediaType.flatMap { Self.isPage($0) ? $0 : nil }
        if isBare, wouldLoseBytes(to: response.identity), type == nil || type != known.mediaType {
            return .fault(.suspectPage(bare))
        }
        guard let type else {
            let records = known.records + [record].compactMap { $0 }
            let isFewer = size.map { $0 < held } ?? false
            guard isBare, isFewer || records.contains(where: { !$0.validators.isEmpty }) else { return nil }
            return .suspectPage(response, evidence: bare)
        }
        if let before = known.mediaType, before != type { return .fault(.page(Self.instead(type, of: before))) }
        if known.mediaType == nil, !isExpected(type) { return .fault(.page(Self.page(type))) }
        guard hasOtherSize else { return nil }
        return .suspectPage(
            response, evidence: .init("page-of-other-size", "it responded with a page of another size (\(type))"))
    }

    /// A part of an error page in place of a part of the content: caches apply Range to pages with status 200.
    func pagePart(_ identity: ContentIdentity) -> Verdict? {
        guard let type = identity.mediaType, Self.isPage(type), let before = known?.mediaType, before != type else {
            return nil
        }
        return .fault(.page(Self.instead(type, of: before)))
    }

    private func pageInsteadOfFormer(_ response: AcceptedResponse) -> Verdict? {
        guard let former else { return nil }
        if let type = response.identity.mediaType, Self.isPage(type), type != former.mediaType,
            !isExpected(type) || former.mediaType != nil && !isSuccessor(response.identity)
        {
            return .fault(.page(former.mediaType.map { Self.instead(type, of: $0) } ?? Self.page(type)))
        }
        let page = SuspectPage(total: response.identity.total, mediaType: response.identity.mediaType)
        guard former.hasValidators, response.identity.validators.isEmpty, page != former.suspect else { return nil }
        return .suspectPage(
            response, evidence: .init("no-validators-any-more", "it has neither ETag nor Last-Modified any more"))
    }

    /// Whether content of another type may have become this page: it has validators, and the file a name with an ending,
    /// which fits.
    private func isSuccessor(_ identity: ContentIdentity) -> Bool {
        !identity.validators.isEmpty && name?.contains(".") == true
    }

    private static func page(_ type: String) -> LocalizableMessage {
        LocalizableMessage("page-response", "it responded with a page (\(type))")
    }

    private static func instead(_ type: String, of before: String) -> LocalizableMessage {
        LocalizableMessage("page-instead-of-type", "it responded with \(type) instead of \(before)")
    }

    /// Whether less than what is on disk would replace it, from a host that had validators before.
    private func wouldLoseBytes(to identity: ContentIdentity) -> Bool {
        guard let record, !record.validators.isEmpty else { return false }
        return identity.total ?? 0 < held
    }

    /// Whether servers and proxies send errors in this type.
    package static func isPage(_ type: String) -> Bool {
        let pages = ["text/html", "text/plain", "text/xml", "application/json", "application/xml"]
        return pages.contains(type) || type.hasSuffix("+json") || type.hasSuffix("+xml")
    }

    /// Whether a file of this name may have the type, where its earlier type is unknown.
    private func isExpected(_ type: String) -> Bool {
        guard let name = name?.lowercased() else { return false }
        guard let dot = name.lastIndex(of: ".") else { return true }
        let ending = String(name[name.index(after: dot)...])
        switch type {
        case "text/html", "application/xhtml+xml": return ["html", "htm", "xhtml"].contains(ending)
        case "text/plain": return !["html", "htm"].contains(ending)
        default: return type.hasSuffix(ending)
        }
    }
}
