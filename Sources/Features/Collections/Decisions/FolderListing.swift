package import PawlBase

/// The lines of a folder's listing from a file server: MLSD (RFC 3659 §7), LIST as `ls -l` and as DOS writes it, and what
/// SFTP servers send.
package struct FolderListing: Sendable {
    private static let longestLine = 16 << 10

    private var line: [UInt8] = []
    private var isTooLong = false
    private let now: UnixTime
    /// Symbolic links and what they lead to, until the folder is complete.
    private var links: [(name: [UInt8], target: [UInt8])] = []
    private var folders: Set<[UInt8]> = []
    private var files: Set<[UInt8]> = []
    private let followsLinks: Bool
    /// Lines of which nothing was understood.
    package private(set) var unknown = 0
    /// Symbolic links that were left out: what they lead to is not in the same folder.
    package private(set) var skippedLinks = 0

    /// `now` decides which year a date without one has.
    package init(now: UnixTime, followsLinks: Bool = true) {
        self.now = now
        self.followsLinks = followsLinks
    }

    package mutating func feed(_ chunk: some Collection<UInt8>) -> [ListedLink] {
        var found: [ListedLink] = []
        for byte in chunk {
            guard byte == .lineFeed else {
                if line.count < Self.longestLine { line.append(byte) } else { isTooLong = true }
                continue
            }
            endLine(&found)
        }
        return found
    }

    /// The listing is complete: returns the last entry, and the links to entries of the folder.
    package mutating func end() -> [ListedLink] {
        var found: [ListedLink] = []
        if !line.isEmpty { endLine(&found) }
        for link in links {
            let isFolder = folders.contains(link.target)
            guard followsLinks, isFolder || files.contains(link.target) else {
                skippedLinks += 1
                continue
            }
            var entry = ListedLink(name: link.name, isFolder: isFolder)
            entry.isLink = true
            found.append(entry)
        }
        links = []
        return found
    }

    private mutating func endLine(_ found: inout [ListedLink]) {
        defer {
            line.removeAll(keepingCapacity: true)
            isTooLong = false
        }
        if line.last == .carriageReturn { line.removeLast() }
        guard !line.isEmpty, !isTooLong else { return }
        guard let entry = Self.machine(line[...]) ?? Self.unix(line[...], now) ?? Self.dos(line[...]) else {
            // The number of blocks that `ls` prints first.
            if !line.starts(with: "total ".utf8) { unknown += 1 }
            return
        }
        switch entry.kind {
        case .none: break
        case .link: links.append((entry.name, entry.target))
        case .folder:
            folders.insert(entry.name)
            found.append(ListedLink(name: entry.name, isFolder: true))
        case .file:
            files.insert(entry.name)
            var link = ListedLink(name: entry.name, isFolder: false)
            (link.size, link.isExact) = (entry.size, entry.size != nil)
            (link.modified, link.timeStep) = (entry.modified, entry.timeStep)
            found.append(link)
        }
    }

    // MARK: forms

    private struct Line {
        enum Kind { case file, folder, link, none }
        var kind = Kind.none
        var name: [UInt8] = []
        var target: [UInt8] = []
        var size: Int64?
        var modified: UnixTime?
        var timeStep: Int64 = 1
    }

    /// `type=file;size=12;modify=20261129161155; name`.
    private static func machine(_ text: ArraySlice<UInt8>) -> Line? {
        guard let space = text.firstIndex(of: .space), space > text.startIndex, text[space - 1] == .semicolon else {
            return nil
        }
        var line = Line()
        line.name = Array(text[(space + 1)...])
        var hasType = false
        for fact in text[..<space].split(separator: .semicolon) {
            guard let equals = fact.firstIndex(of: .equals) else { return nil }
            let (name, value) = (fact[..<equals], fact[(equals + 1)...])
            if name.isCaseInsensitively("type") {
                hasType = true
                line.kind =
                    value.isCaseInsensitively("file") ? .file : value.isCaseInsensitively("dir") ? .folder : .none
                let link = "os.unix=slink:".utf8
                let start = value.prefix(link.count).map(\.lowercased)
                if start.elementsEqual(link) || start.elementsEqual("os.unix=symlink".utf8.prefix(link.count)) {
                    line.kind = .link
                    line.target = Array(value.dropFirst(link.count))
                }
            } else if name.isCaseInsensitively("size") {
                line.size = value.decimalNumber
            } else if name.isCaseInsensitively("modify") {
                line.modified = time(value)
            }
        }
        guard hasType, !line.name.isEmpty else { return nil }
        return line
    }

    /// `20261129161155`, with a fraction or without.
    private static func time(_ text: ArraySlice<UInt8>) -> UnixTime? {
        let digits = text.prefix(14)
        guard digits.count == 14, let number = digits.decimalNumber else { return nil }
        let (date, time) = (number / 1_000_000, number % 1_000_000)
        func two(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let clock = "\(two(time / 10_000)):\(two(time / 100 % 100)):\(two(time % 100))"
        return UnixTime(
            year: date / 10_000, month: date / 100 % 100, day: date % 100, time: Array(clock.utf8)[...])
    }

    /// `-rw-r--r-- 1 owner group 1234 Nov 29 16:11 name`, with any number of columns before the size.
    private static func unix(_ text: ArraySlice<UInt8>, _ now: UnixTime) -> Line? {
        guard let first = text.first, [0x2D, 0x64, 0x6C, 0x62, 0x63, 0x70, 0x73].contains(first), text.count > 10,
            text.dropFirst().prefix(9).allSatisfy({ "rwxsStTlL-".utf8.contains($0) })
        else { return nil }
        var words: [ArraySlice<UInt8>] = []
        var rest = text
        // Beyond that only the name follows.
        while words.count < 12 {
            rest = rest.drop(while: \.isBlank)
            let word = rest.prefix { !$0.isBlank }
            guard !word.isEmpty else { return nil }
            words.append(word)
            rest = rest[word.endIndex...]
            guard words.count >= 5, let (modified, step) = date(words.suffix(3), now),
                let size = words[words.count - 4].decimalNumber, rest.first == .space
            else { continue }
            var line = Line()
            line.name = Array(rest.dropFirst())
            (line.size, line.modified, line.timeStep) = (size, modified, step)
            switch first {
            case UInt8(ascii: "-"): line.kind = .file
            case UInt8(ascii: "d"): line.kind = .folder
            case UInt8(ascii: "l"):
                guard let arrow = line.name.firstRange(of: " -> ".utf8) else { return nil }
                line.kind = .link
                line.target = Array(line.name[arrow.upperBound...])
                line.name = Array(line.name[..<arrow.lowerBound])
            case _: line.kind = .none
            }
            if line.name.isEmpty { return nil }
            if line.name.elementsEqual(".".utf8) || line.name.elementsEqual("..".utf8) { line.kind = .none }
            return line
        }
        return nil
    }

    /// `Nov 29 16:11` of the last twelve months, or `Nov 29 2025`; the zone is the server's, and taken for UTC.
    private static func date(_ words: ArraySlice<ArraySlice<UInt8>>, _ now: UnixTime) -> (UnixTime, step: Int64)? {
        let words = Array(words)
        guard words.count == 3, let month = UnixTime.month(words[0]), let day = words[1].decimalNumber else {
            return nil
        }
        if let year = words[2].decimalNumber {
            return UnixTime(year: year, month: month, day: day, time: Array("00:00".utf8)[...]).map { ($0, 86_400) }
        }
        let present = UnixTime.civil(now.seconds / 86_400).year
        guard let time = UnixTime(year: present, month: month, day: day, time: words[2]) else { return nil }
        // A day of the coming year would be a year ahead.
        guard time.seconds > now.seconds + 86_400 else { return (time, 60) }
        return UnixTime(year: present - 1, month: month, day: day, time: words[2]).map { ($0, 60) }
    }

    /// `11-29-26  04:11PM  1234 name`, `<DIR>` instead of the size of a folder.
    private static func dos(_ text: ArraySlice<UInt8>) -> Line? {
        let words = text.split(maxSplits: 3, whereSeparator: \.isBlank)
        guard words.count == 4 else { return nil }
        let date = words[0].pieces(between: .dash)
        guard date.count == 3, let month = date[0].decimalNumber, let day = date[1].decimalNumber,
            let number = date[2].decimalNumber, words[1].count >= 5
        else { return nil }
        let year = number > 99 ? number : number + (number < 70 ? 2000 : 1900)
        let clock = words[1].prefix(5).pieces(between: .colon)
        guard clock.count == 2, var hour = clock[0].decimalNumber, let minute = clock[1].decimalNumber else {
            return nil
        }
        let half = words[1].dropFirst(5)
        if half.isCaseInsensitively("pm") {
            hour = hour % 12 + 12
        } else if half.isCaseInsensitively("am") {
            hour %= 12
        } else if !half.isEmpty {
            return nil
        }
        var line = Line()
        line.modified = UnixTime(
            year: year, month: month, day: day, time: Array("\(hour):\(minute)".utf8)[...])
        line.timeStep = 60
        guard line.modified != nil else { return nil }
        // One blank separates the last column from the name; those before it pad the column.
        line.name = Array(words[3].drop(while: \.isBlank))
        if words[2].isCaseInsensitively("<dir>") {
            line.kind = .folder
        } else {
            guard let size = words[2].decimalNumber else { return nil }
            line.kind = .file
            line.size = size
        }
        if line.name.elementsEqual(".".utf8) || line.name.elementsEqual("..".utf8) { line.kind = .none }
        return line.name.isEmpty ? nil : line
    }
}
