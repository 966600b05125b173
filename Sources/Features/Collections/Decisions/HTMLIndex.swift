import PawlBase

/// The links of an HTML page, byte by byte.
///
/// A tokenizer and no tree: a link is a tag, wherever it is. Tags and texts have limits, so that a page needs no memory.
struct HTMLIndex: Sendable {
    private enum State: Sendable {
        case text
        case tag
        /// Inside a quoted value of a tag.
        case quoted(UInt8)
        /// Behind `<!--`, until `-->`.
        case comment
        /// In an element without markup; its end tag ends it.
        case raw([UInt8])
    }

    private static let longestTag = 16 << 10
    private static let longestText = 256
    private static let withoutMarkup = ["script", "style", "textarea"].map { Array($0.utf8) }

    private var state = State.text
    private var tag: [UInt8] = []
    private var isTagTooLong = false
    private var text: [UInt8] = []
    private var isTitle = false
    /// The last link, whose size and time may follow.
    private var pending: ListedLink?
    /// Whether the text belongs to what follows the last link.
    private var isBehindLink = false
    private(set) var base: [UInt8]?
    private(set) var isIndex = false
    private var isOpen = false
    private var isClosed = false

    /// Whether a page that began with `<html>` has ended with `</html>`, which few pages leave out.
    var isWhole: Bool { !isOpen || isClosed }

    mutating func feed(_ byte: UInt8, _ links: inout [ListedLink]) {
        switch state {
        case .text:
            if byte == .less {
                endText()
                tag.removeAll(keepingCapacity: true)
                isTagTooLong = false
                state = .tag
            } else if text.count < Self.longestText {
                text.append(byte)
            }
        case .tag: feedTag(byte, &links)
        case .quoted(let quote):
            append(byte)
            if byte == quote { state = .tag }
            // An unclosed quote would swallow the page.
            if isTagTooLong, byte == .greater { state = .text }
        case .comment:
            append(byte)
            if byte == .greater, tag.suffix(3).elementsEqual("-->".utf8) { state = .text }
            if tag.count > 8 { tag.removeFirst(tag.count - 3) }
        case .raw(let name):
            append(byte)
            guard byte == .greater else { break }
            let end = tag.count > name.count + 3 ? tag.suffix(name.count + 3)[...] : tag[...]
            if end.starts(with: "</".utf8), end.dropFirst(2).dropLast().map(\.lowercased).elementsEqual(name) {
                state = .text
            }
            tag.removeAll(keepingCapacity: true)
        }
    }

    private mutating func append(_ byte: UInt8) {
        if case .raw = state {
            // Only its end is looked at.
            if tag.count > 64 { tag.removeFirst(32) }
            tag.append(byte)
        } else if tag.count < Self.longestTag {
            tag.append(byte)
        } else {
            isTagTooLong = true
        }
    }

    private mutating func feedTag(_ byte: UInt8, _ links: inout [ListedLink]) {
        // A sign of its own, as in `a < b`.
        if tag.isEmpty, !byte.isLetter, byte != .slash, byte != UInt8(ascii: "!"), byte != .questionMark {
            if byte != .less { state = .text }
            return
        }
        switch byte {
        case .greater:
            state = .text
            endTag(&links)
        case .quote, .apostrophe:
            append(byte)
            // A quote opens a value only behind an equals sign.
            if tag.dropLast().last(where: { !$0.isWhiteSpace }) == .equals { state = .quoted(byte) }
        case _:
            append(byte)
            if tag.count == 3, tag.elementsEqual("!--".utf8) { state = .comment }
        }
    }

    mutating func end(_ links: inout [ListedLink]) {
        endText()
        if let pending { links.append(pending) }
        pending = nil
    }

    // MARK: texts

    /// What a page of a folder says in its title or its first heading.
    private static let titles = [
        "index of", "directory listing for", "directory: ", "[to parent directory]", "parent directory",
    ]

    private mutating func endText() {
        defer { text.removeAll(keepingCapacity: true) }
        let content = text.trimmed(\.isWhiteSpace)
        guard !content.isEmpty else { return }
        if !isIndex {
            let start = content.prefix(32).map(\.lowercased)
            isIndex = Self.titles.contains { start.starts(with: $0.utf8) } || isTitle && Self.isPath(content)
        }
        guard isBehindLink, pending != nil else { return }
        isBehindLink = false
        describe(content)
    }

    /// IIS and Caddy have the folder itself as the title.
    private static func isPath(_ title: ArraySlice<UInt8>) -> Bool {
        title.first == .slash && title.last == .slash || title.suffix(3).elementsEqual(" - ".utf8)
    }

    /// nginx's `29-Nov-2026 16:11    1234`, in UTC, to the minute; the size is exact if it has no unit.
    private mutating func describe(_ text: ArraySlice<UInt8>) {
        let words = text.split(whereSeparator: \.isWhiteSpace)
        guard words.count == 3, let modified = UnixTime(indexDate: words[0], minute: words[1]) else { return }
        let size = words[2].decimalNumber
        pending?.modified = modified
        pending?.timeStep = 60
        pending?.size = size
        pending?.isExact = size != nil
    }

    // MARK: tags

    private mutating func endTag(_ links: inout [ListedLink]) {
        guard !isTagTooLong else { return }
        let name = tag.prefix { !$0.isWhiteSpace && $0 != .slash || $0 == .slash && tag.first == .slash }
            .map(\.lowercased)
        if name.elementsEqual("html".utf8) { isOpen = true }
        if name.elementsEqual("/html".utf8) { isClosed = true }
        if name.elementsEqual("/a".utf8) {
            isBehindLink = pending != nil
        } else if name.elementsEqual("title".utf8) || name.elementsEqual("/title".utf8) {
            isTitle = name.first != .slash
        } else if name.elementsEqual("a".utf8) {
            guard let reference = attribute("href") else { return }
            if let pending { links.append(pending) }
            pending = ListedLink(reference)
            isBehindLink = false
            if reference.elementsEqual("../".utf8) || reference.elementsEqual("..".utf8) { isIndex = true }
        } else if name.elementsEqual("base".utf8), base == nil {
            base = attribute("href")
        } else if Self.withoutMarkup.contains(name), tag.last != .slash {
            tag.removeAll(keepingCapacity: true)
            state = .raw(name)
        }
    }

    /// The value of an attribute of the present tag, its entities replaced.
    private func attribute(_ wanted: StaticString) -> [UInt8]? {
        var rest = tag[...].drop { !$0.isWhiteSpace && $0 != .slash }
        while true {
            rest = rest.drop { $0.isWhiteSpace || $0 == .slash }
            guard !rest.isEmpty else { return nil }
            // A stray sign must not stop the scan.
            if rest.first == .equals {
                rest = rest.dropFirst()
                continue
            }
            let name = rest.prefix { !$0.isWhiteSpace && $0 != .equals }
            rest = rest[name.endIndex...].drop(while: \.isWhiteSpace)
            guard rest.first == .equals else { continue }
            rest = rest.dropFirst().drop(while: \.isWhiteSpace)
            let value: ArraySlice<UInt8>
            if let quote = rest.first, quote == .quote || quote == .apostrophe {
                value = rest.dropFirst().prefix { $0 != quote }
                rest = rest[value.endIndex...].dropFirst()
            } else {
                value = rest.prefix { !$0.isWhiteSpace }
                rest = rest[value.endIndex...]
            }
            if name.isCaseInsensitively(wanted) { return HTMLText.decoded(value) }
        }
    }
}

/// Character references of HTML.
enum HTMLText {
    private static let named: [(name: StaticString, value: UInt8)] = [
        ("amp", UInt8(ascii: "&")), ("lt", .less), ("gt", .greater), ("quot", .quote), ("apos", .apostrophe),
    ]
    private static let longest = 10

    /// `bytes` with the numeric references and those of markup replaced; others stay as they are.
    static func decoded(_ bytes: some Collection<UInt8>) -> [UInt8] {
        guard bytes.contains(UInt8(ascii: "&")) else { return Array(bytes) }
        var result: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "&"), let end = rest.prefix(longest).firstIndex(of: .semicolon),
                let value = value(of: rest[..<end])
            {
                result += value
                rest = rest[(end + 1)...]
            } else {
                result.append(byte)
            }
        }
        return result
    }

    private static func value(of name: ArraySlice<UInt8>) -> [UInt8]? {
        guard name.first == .hash else {
            return named.first { name.isCaseInsensitively($0.name) }.map { [$0.value] }
        }
        let digits = name.dropFirst()
        let isHexadecimal = digits.first?.lowercased == UInt8(ascii: "x")
        let text = String(decoding: isHexadecimal ? digits.dropFirst() : digits, as: UTF8.self)
        guard let number = UInt32(text, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(number) else {
            return nil
        }
        return Array(String(Character(scalar)).utf8)
    }
}

extension UnixTime {
    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// The number of a month from its English abbreviation, 1 for January.
    static func month(_ text: some Collection<UInt8>) -> Int64? {
        let text = text.map(\.lowercased)
        return months.firstIndex { text.elementsEqual($0.utf8) }.map { Int64($0 + 1) }
    }

    /// nginx's form, in UTC: `29-Nov-2026` and `16:11`.
    init?(indexDate date: ArraySlice<UInt8>, minute: ArraySlice<UInt8>) {
        let date = date.pieces(between: .dash)
        guard date.count == 3, let day = date[0].decimalNumber, let month = Self.month(date[1]),
            let year = date[2].decimalNumber
        else { return nil }
        self.init(year: year, month: month, day: day, time: minute)
    }

    /// A date with `HH:MM` or `HH:MM:SS`, in UTC; `nil` for what is no time.
    init?(year: Int64, month: Int64, day: Int64, time: ArraySlice<UInt8>) {
        let time = time.pieces(between: .colon)
        guard 2...3 ~= time.count, let hour = time[0].decimalNumber, let minute = time[1].decimalNumber,
            let second = time.count == 3 ? time[2].decimalNumber : 0, 1970...9999 ~= year, 1...12 ~= month,
            1...31 ~= day, hour < 24, minute < 60, second <= 60
        else { return nil }
        let days = Self.days(year: year, month: month, day: day)
        self.init(seconds: days * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// RFC 3339, as in Go's JSON: `2026-11-29T16:11:55.123Z`, or with an offset.
    package init?(timestamp text: String) {
        let bytes = Array(text.utf8)[...]
        guard bytes.count >= 10 else { return nil }
        let date = bytes.prefix(10).pieces(between: .dash)
        guard date.count == 3, let year = date[0].decimalNumber, let month = date[1].decimalNumber,
            let day = date[2].decimalNumber
        else { return nil }
        var rest = bytes.dropFirst(10)
        guard !rest.isEmpty else {
            self.init(year: year, month: month, day: day, time: Array("00:00".utf8)[...])
            return
        }
        guard rest.first == UInt8(ascii: "T") || rest.first == UInt8(ascii: "t") || rest.first == .space else {
            return nil
        }
        rest = rest.dropFirst()
        let time = rest.prefix { $0.isDigit || $0 == .colon }
        rest = rest[time.endIndex...]
        if rest.first == .dot { rest = rest.dropFirst().drop(while: \.isDigit) }
        guard let base = UnixTime(year: year, month: month, day: day, time: time),
            let offset = Self.offset(rest)
        else { return nil }
        self.init(seconds: base.seconds - offset)
    }

    private static func offset(_ text: ArraySlice<UInt8>) -> Int64? {
        if text.isEmpty || text.elementsEqual("Z".utf8) || text.elementsEqual("z".utf8) { return 0 }
        guard text.first == .plus || text.first == .dash else { return nil }
        let digits = text.dropFirst().filter { $0 != .colon }
        guard digits.count == 4, let number = digits.decimalNumber else { return nil }
        let seconds = (number / 100 * 60 + number % 100) * 60
        return text.first == .dash ? -seconds : seconds
    }
}
