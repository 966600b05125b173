import PawlBase

/// The members of a WebDAV collection (207 Multi-Status, RFC 4918 §13), byte by byte.
///
/// Elements are known by their namespaces, whatever prefixes these have. There is no document type, which could define
/// entities, so nothing expands.
struct MultistatusIndex: Sendable {
    private enum State: Sendable {
        case text
        case tag
        case quoted(UInt8)
        /// Ends with these bytes: a comment, a section of character data, an instruction.
        case section(ending: StaticString, isText: Bool)
    }

    private enum Element: Hashable, Sendable {
        case multistatus, response, href, status, propertyStatus, properties
        case length, modified, entityTag, type, collection, checksums, checksum
        case other

        /// Whether its text is read.
        var hasText: Bool {
            switch self {
            case .href, .status, .length, .modified, .entityTag, .checksum: true
            case .multistatus, .response, .propertyStatus, .properties, .type, .collection, .checksums, .other: false
            }
        }
    }

    private struct Open: Sendable {
        /// As written: the end tag has to be equal.
        let name: [UInt8]
        let element: Element
        /// The number of namespaces that are declared outside of it.
        let namespaces: Int
    }

    /// What a group of properties, or a member, has.
    private struct Properties: Sendable {
        var isFolder = false
        var size: Int64?
        var modified: UnixTime?
        var entityTag: String?
        var checksum: String?
        var isFound = true

        /// Takes those of a group that was found.
        mutating func add(_ group: Properties) {
            guard group.isFound else { return }
            isFolder = isFolder || group.isFolder
            size = size ?? group.size
            modified = modified ?? group.modified
            entityTag = entityTag ?? group.entityTag
            checksum = checksum ?? group.checksum
        }
    }

    private static let longestTag = 16 << 10
    private static let longestText = 16 << 10
    private static let deepest = 64
    private static let mostNamespaces = 256
    private static let damaged = IndexFault(why: "its XML is damaged")

    private var state = State.text
    private var tag: [UInt8] = []
    /// Character data as it was written, and before it what is decoded.
    private var text: [UInt8] = []
    private var value: [UInt8] = []
    private var open: [Open] = []
    private var namespaces: [(prefix: [UInt8], name: [UInt8])] = []
    private var href: [UInt8]?
    private var member = Properties()
    private var group = Properties()
    private var fault: IndexFault?
    /// Whether its root has begun.
    private(set) var isIndex = false
    private var isOver = false

    mutating func feed(_ byte: UInt8, _ links: inout [ListedLink]) {
        guard fault == nil else { return }
        switch state {
        case .text:
            if byte == .less {
                value += HTMLText.decoded(text)
                text.removeAll(keepingCapacity: true)
                tag.removeAll(keepingCapacity: true)
                state = .tag
            } else {
                append(byte)
            }
        case .tag: feedTag(byte, &links)
        case .quoted(let quote):
            tag.append(byte)
            if byte == quote { state = .tag }
        case .section(let ending, let isText): feedSection(byte, ending, isText: isText)
        }
        if tag.count > Self.longestTag || text.count + value.count > Self.longestText {
            fault = IndexFault(why: "an element of it is too long")
        }
    }

    private mutating func append(_ byte: UInt8) {
        if let last = open.last {
            if last.element.hasText { text.append(byte) }
        } else if !byte.isWhiteSpace, ![0xEF, 0xBB, 0xBF].contains(byte) {
            fault = Self.damaged
        }
    }

    private mutating func feedTag(_ byte: UInt8, _ links: inout [ListedLink]) {
        switch byte {
        case .greater:
            state = .text
            if tag.first == .slash {
                endElement(tag.dropFirst().trimmed(\.isWhiteSpace), &links)
            } else {
                begin(&links)
            }
            return
        case .quote, .apostrophe: state = .quoted(byte)
        case .less: fault = Self.damaged
        case _: break
        }
        tag.append(byte)
        if tag.elementsEqual("?".utf8) { state = .section(ending: "?>", isText: false) }
        guard tag.first == UInt8(ascii: "!") else { return }
        if tag.elementsEqual("!--".utf8) {
            state = .section(ending: "-->", isText: false)
        } else if tag.elementsEqual("![CDATA[".utf8) {
            state = .section(ending: "]]>", isText: true)
        } else if !"!--".utf8.starts(with: tag), !"![CDATA[".utf8.starts(with: tag) {
            fault = IndexFault(why: "it has a document type, which could define anything")
        } else {
            return
        }
        tag.removeAll(keepingCapacity: true)
    }

    private mutating func feedSection(_ byte: UInt8, _ ending: StaticString, isText: Bool) {
        tag.append(byte)
        let isEnd = byte == .greater && ending.withUTF8Buffer { unsafe tag.suffix($0.count).elementsEqual($0) }
        if isText, isEnd, open.last?.element.hasText == true { value += tag.dropLast(ending.utf8CodeUnitCount) }
        if isEnd { state = .text } else if !isText, tag.count > 8 { tag.removeFirst(tag.count - 3) }
    }

    func end() throws(IndexFault) {
        if let fault { throw fault }
        guard isOver else { throw IndexFault(why: "its XML is cut off", isCutOff: true) }
    }

    // MARK: elements

    private mutating func begin(_ links: inout [ListedLink]) {
        let isEmpty = tag.last == .slash
        let content = isEmpty ? tag.dropLast() : tag[...]
        let name = Array(content.prefix { !$0.isWhiteSpace })
        let outer = namespaces.count
        guard !name.isEmpty, open.count < Self.deepest, !isOver, declare(content[name.count...]) else {
            fault = fault ?? Self.damaged
            return
        }
        let element = element(name)
        if open.isEmpty {
            guard element == .multistatus else {
                fault = IndexFault(why: "it is no listing of WebDAV")
                return
            }
            isIndex = true
        }
        if element == .response { (href, member) = (nil, Properties()) }
        if element == .propertyStatus { group = Properties() }
        if element == .collection { group.isFolder = true }
        value.removeAll(keepingCapacity: true)
        open.append(Open(name: name, element: element, namespaces: outer))
        if isEmpty { endElement(name[...], &links) }
    }

    /// Notes the namespaces that a tag's attributes declare; `false` if these are damaged.
    private mutating func declare(_ attributes: ArraySlice<UInt8>) -> Bool {
        var rest = attributes
        while true {
            rest = rest.drop(while: \.isWhiteSpace)
            guard !rest.isEmpty else { return true }
            let name = rest.prefix { !$0.isWhiteSpace && $0 != .equals }
            rest = rest[name.endIndex...].drop(while: \.isWhiteSpace)
            guard rest.first == .equals else { return false }
            rest = rest.dropFirst().drop(while: \.isWhiteSpace)
            guard let quote = rest.first, quote == .quote || quote == .apostrophe else { return false }
            let value = rest.dropFirst().prefix { $0 != quote }
            rest = rest[value.endIndex...].dropFirst()
            guard name.starts(with: "xmlns".utf8) else { continue }
            let prefix = name.dropFirst(5)
            guard prefix.isEmpty || prefix.first == .colon else { continue }
            guard namespaces.count < Self.mostNamespaces else { return false }
            namespaces.append((Array(prefix.dropFirst()), HTMLText.decoded(value)))
        }
    }

    private func element(_ name: [UInt8]) -> Element {
        let colon = name.firstIndex(of: .colon)
        let prefix = colon.map { name[..<$0] } ?? []
        let namespace = namespaces.last { $0.prefix.elementsEqual(prefix) }?.name ?? []
        let local = String(decoding: colon.map { name[($0 + 1)...] } ?? name[...], as: UTF8.self)
        let parent = open.last?.element
        if namespace.elementsEqual("http://owncloud.org/ns".utf8) {
            switch (local, parent) {
            case ("checksums", .properties): return .checksums
            case ("checksum", .checksums): return .checksum
            case _: return .other
            }
        }
        guard namespace.elementsEqual("DAV:".utf8) else { return .other }
        switch (local, parent) {
        case ("multistatus", nil): return .multistatus
        case ("response", .multistatus): return .response
        case ("href", .response): return .href
        case ("status", .response), ("status", .propertyStatus): return .status
        case ("propstat", .response): return .propertyStatus
        case ("prop", .propertyStatus): return .properties
        case ("getcontentlength", .properties): return .length
        case ("getlastmodified", .properties): return .modified
        case ("getetag", .properties): return .entityTag
        case ("resourcetype", .properties): return .type
        case ("collection", .type): return .collection
        case _: return .other
        }
    }

    private mutating func endElement(_ name: ArraySlice<UInt8>, _ links: inout [ListedLink]) {
        guard let last = open.popLast(), last.name.elementsEqual(name) else {
            fault = Self.damaged
            return
        }
        namespaces.removeLast(namespaces.count - last.namespaces)
        let text = value.trimmed(\.isWhiteSpace)
        value.removeAll(keepingCapacity: true)
        switch last.element {
        case .href: href = href ?? Array(text)
        case .status:
            let code = text.split(whereSeparator: \.isWhiteSpace).dropFirst().first
            let isGood = code?.count == 3 && code?.first == UInt8(ascii: "2")
            if open.last?.element == .response { member.isFound = isGood } else { group.isFound = isGood }
        case .propertyStatus: member.add(group)
        case .length: group.size = text.decimalNumber
        case .modified: group.modified = UnixTime(httpDate: text)
        case .entityTag: group.entityTag = Self.strongTag(text)
        case .checksum: group.checksum = group.checksum ?? Self.checksum(text)
        case .response: if let link = link { links.append(link) }
        case .multistatus: isOver = true
        case .properties, .type, .collection, .checksums, .other: break
        }
    }

    private var link: ListedLink? {
        guard var reference = href, !reference.isEmpty, member.isFound else { return nil }
        // Not every server ends that of a collection with a slash.
        if member.isFolder {
            if reference.last != .slash { reference.append(.slash) }
            return ListedLink(reference)
        }
        while reference.last == .slash { reference.removeLast() }
        var link = ListedLink(reference)
        (link.size, link.isExact, link.modified) = (member.size, member.size != nil, member.modified)
        (link.entityTag, link.checksum) = (member.entityTag, member.checksum)
        return link
    }

    /// A weak one, and one without quotes, say nothing.
    private static func strongTag(_ text: ArraySlice<UInt8>) -> String? {
        guard text.count > 2, text.first == .quote, text.last == .quote else { return nil }
        let opaque = text.dropFirst().dropLast()
        return opaque.contains(.quote) ? nil : String(decoding: opaque, as: UTF8.self)
    }

    /// The best of `SHA1:… MD5:… ADLER32:…`, as ownCloud and Nextcloud write them.
    private static func checksum(_ text: ArraySlice<UInt8>) -> String? {
        let stated = text.split(whereSeparator: \.isWhiteSpace).compactMap { word -> (HashAlgorithm, String)? in
            let parts = word.split(separator: .colon, maxSplits: 1)
            guard parts.count == 2, let known = algorithms.first(where: { parts[0].isCaseInsensitively($0.name) }),
                let checksum = Checksum(known.algorithm, hex: parts[1])
            else { return nil }
            return (known.algorithm, Hexadecimal.text(checksum.digest))
        }
        let best = algorithms.lazy.compactMap { known in stated.first { $0.0 == known.algorithm } }.first
        return best.map { "\($0.0.rawValue)=\($0.1)" }
    }

    /// The best first.
    private static let algorithms: [(name: StaticString, algorithm: HashAlgorithm)] = [
        ("sha512", .sha512), ("sha256", .sha256), ("sha1", .sha1), ("md5", .md5), ("adler32", .adler32),
    ]
}
