import PawlBase

/// Reads the links of an index page while it arrives, HTML, JSON or XML of WebDAV, in memory that does not grow with the page.
///
/// HTML of any server: names come from `href` (the text beside it is cut or in another charset), sizes and times from what
/// nginx writes behind a link. JSON as nginx (`autoindex_format json`) and Caddy write it.
package struct IndexPage: Sendable {
    private enum Form: Sendable {
        case unknown
        case html(HTMLIndex)
        case json(JSONIndex)
        case multistatus(MultistatusIndex)
    }

    /// What a page has at most, in bytes.
    package static let limit: Int64 = 64 << 20

    private var form = Form.unknown
    private var length: Int64 = 0

    /// `isMultistatus`: it is the response of a WebDAV server.
    package init(isMultistatus: Bool = false) { if isMultistatus { form = .multistatus(MultistatusIndex()) } }

    /// Whether something on it shows that it is an index: a title, a link to the folder above, or JSON of that form.
    ///
    /// A page that lacks it may be a login or an error page.
    package var isIndex: Bool {
        switch form {
        case .unknown: false
        case .html(let page): page.isIndex
        case .json(let page): page.isIndex
        case .multistatus(let page): page.isIndex
        }
    }

    /// Whether nothing shows that its end is missing.
    package var isWhole: Bool {
        if case .html(let page) = form { page.isWhole } else { true }
    }

    /// What links are relative to, if the page says so (`<base href>`).
    package var base: [UInt8]? {
        if case .html(let page) = form { page.base } else { nil }
    }

    /// Whether more than ``limit`` bytes came: what is left is not read.
    package var isTooLong: Bool { length > Self.limit }

    /// Takes the next bytes; returns the links that are complete.
    package mutating func feed(_ chunk: some Collection<UInt8>) -> [ListedLink] {
        length = length.addingClamped(Int64(chunk.count))
        guard !isTooLong else { return [] }
        if case .unknown = form {
            // White space and a byte order mark say nothing.
            guard let first = chunk.first(where: { !$0.isWhiteSpace && ![0xEF, 0xBB, 0xBF].contains($0) }) else {
                return []
            }
            form = first == .leftBracket ? .json(JSONIndex()) : .html(HTMLIndex())
        }
        var links: [ListedLink] = []
        switch form {
        case .unknown: break
        case .html(var page):
            form = .unknown
            for byte in chunk { page.feed(byte, &links) }
            form = .html(page)
        case .json(var page):
            form = .unknown
            for byte in chunk { page.feed(byte, &links) }
            form = .json(page)
        case .multistatus(var page):
            form = .unknown
            for byte in chunk { page.feed(byte, &links) }
            form = .multistatus(page)
        }
        return links
    }

    /// The page is complete: returns the last link, or throws that it was cut off.
    package mutating func end() throws(IndexFault) -> [ListedLink] {
        var links: [ListedLink] = []
        switch form {
        case .unknown: break
        case .html(var page):
            page.end(&links)
            form = .html(page)
        case .json(let page): try page.end()
        case .multistatus(let page): try page.end()
        }
        return links
    }
}

/// Why a page is not the whole of an index.
package struct IndexFault: Error, Hashable, Sendable {
    package var why: String
    /// Whether another response may be whole.
    package var isCutOff: Bool

    package init(why: String, isCutOff: Bool = false) {
        self.why = why
        self.isCutOff = isCutOff
    }
}
