#if Queue
package import PawlBase
import PawlCollections

/// The folder of new downloads of a kind: `type:video`, `host:example.org`, `name:*.iso` or `url:example.org/nightly/*`.
package struct FolderRule: Hashable, Sendable {
    private enum Match: Hashable {
        case type(FileKind)
        /// The host, or one below it.
        case host(String)
        case name(EntryPattern)
        /// Compared with host and path.
        case url(EntryPattern)
    }

    /// What a rule can see of a download.
    struct Subject {
        var address: WebAddress
        /// The file's name, as far as it is known.
        var name: String
        /// Known once it has finished.
        var mediaType: String?

        init(address: WebAddress, name: String, mediaType: String? = nil) {
            (self.address, self.name, self.mediaType) = (address, name, mediaType)
        }

        /// What is known of a URL before anything is requested.
        init(_ source: String) throws(Failure) {
            let address = try WebAddress.parse(source).address
            self.init(address: address, name: address.lastPathComponent)
        }
    }

    private let match: Match
    /// Relative to the root.
    package let folder: String

    /// Throws code 28 if the text is no condition, or the folder is not inside the root; a pattern alone is one for names.
    package init(_ text: String, folder: String) throws(Failure) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let (key, value) = parts.count == 2 ? (parts[0].lowercased(), parts[1]) : ("name", text)
        guard FieldText.isSafe(text), !text.utf8.contains(UInt8(ascii: "\t")), !value.isEmpty,
            let match = Self.match(key, value)
        else {
            throw Failure(
                .badOption, "cannot use", at: "the rule \(Redaction.printable(text))",
                because: LocalizableMessage(
                    "rule-unknown",
                    "it must be type:KIND (\(FileKind.names)), host:NAME, name:PATTERN or url:PATTERN"))
        }
        // Behind the brackets of an address.
        if case .host = match, value.utf8.split(separator: UInt8(ascii: "]")).last?.contains(.colon) == true,
            !value.utf8.starts(with: "[".utf8) || value.utf8.last != UInt8(ascii: "]")
        {
            throw Failure(
                .badOption, "cannot use", at: "the rule \(Redaction.printable(text))",
                because: LocalizableMessage("rule-port", "a host's rule is for all its ports, and names none"),
                remedy: "leave out the port")
        }
        self.match = match
        self.folder = try AddOrder.folder(folder)
        guard FieldText.isSafe(folder) else {
            throw Failure(
                .badOption, "cannot use", at: "the folder \(Redaction.printable(folder))", because: FieldText.message)
        }
    }

    private static func match(_ key: String, _ value: String) -> Match? {
        switch key {
        case "type": FileKind(rawValue: value.lowercased()).map { .type($0) }
        case "host":
            (try? WebAddress.parse("http://\(value)/").address).flatMap { $0.path == "/" ? .host($0.host) : nil }
        case "name": value.utf8.contains(.slash) ? nil : .name(EntryPattern(value))
        case "url": .url(EntryPattern(value))
        case _: nil
        }
    }

    package var text: String {
        switch match {
        case .type(let kind): "type:\(kind.rawValue)"
        case .host(let host): "host:\(host)"
        case .name(let pattern): "name:\(pattern.text)"
        case .url(let pattern): "url:\(pattern.text)"
        }
    }

    func matches(_ subject: Subject) -> Bool {
        switch match {
        case .type(let kind): FileKind(name: subject.name, mediaType: subject.mediaType) == kind
        case .host(let host): subject.address.host == host || subject.address.host.hasSuffix("." + host)
        case .name(let pattern): pattern.matches(subject.name)
        case .url(let pattern): pattern.matches(subject.address.host + subject.address.path)
        }
    }
}

/// The rules of a queue in their order: the first that matches decides.
package struct FolderRules: Hashable, Sendable {
    package private(set) var all: [FolderRule] = []
    package static let most = 200

    package init() {}

    /// Throws code 28 if there are too many.
    package init(_ rules: [FolderRule]) throws(Failure) {
        guard rules.count <= Self.most else {
            throw Failure(
                .badOption, "cannot use", at: "\(rules.count) rules",
                because: LocalizableMessage("rules-many", "there may be \(Self.most)"))
        }
        all = rules
    }

    /// Reads what ``stored`` wrote; what is not understood is left out.
    package init(stored: String) {
        for line in stored.split(separator: "\n").prefix(Self.most) {
            let parts = line.split(separator: "\t", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let rule = try? FolderRule(parts[0], folder: parts[1]) else { continue }
            all.append(rule)
        }
    }

    /// A line for each: neither part has control characters.
    package var stored: String { all.map { "\($0.text)\t\($0.folder)" }.joined(separator: "\n") }

    func folder(of subject: FolderRule.Subject) -> String? { all.first { $0.matches(subject) }?.folder }

    /// Which rule gives a URL its folder, before anything is requested; throws code 28 if it is no URL.
    package func index(for source: String) throws(Failure) -> Int? {
        let subject = try FolderRule.Subject(source)
        return all.firstIndex { $0.matches(subject) }
    }
}

/// What a file is, by the ending of its name, else by its media type.
package enum FileKind: String, CaseIterable, Hashable, Sendable {
    case video, audio, image, document, archive, disk, program

    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    init?(name: String, mediaType: String?) {
        let ending = name.split(separator: ".", omittingEmptySubsequences: false).dropFirst().last?.lowercased()
        if let kind = ending.flatMap({ ending in Self.allCases.first { $0.endings.contains(ending) } }) {
            self = kind
            return
        }
        guard let type = mediaType.flatMap(MediaType.init(parsing:)) else { return nil }
        switch (type.type, type.subtype) {
        case ("video", _): self = .video
        case ("audio", _): self = .audio
        case ("image", _): self = .image
        case ("text", _), ("application", "pdf"), ("application", "epub+zip"): self = .document
        case ("application", "zip"), ("application", "gzip"), ("application", "x-tar"),
            ("application", "x-7z-compressed"):
            self = .archive
        case _: return nil
        }
    }

    private var endings: Set<String> {
        switch self {
        case .video:
            ["mp4", "mkv", "webm", "avi", "mov", "m4v", "mpg", "mpeg", "ts", "m2ts", "flv", "wmv", "ogv", "3gp"]
        case .audio: ["mp3", "flac", "ogg", "oga", "opus", "m4a", "m4b", "aac", "wav", "wma", "aiff", "ape", "mka"]
        case .image: ["jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "bmp", "tif", "tiff", "heic", "jxl", "ico"]
        case .document:
            [
                "pdf", "epub", "mobi", "djvu", "ps", "txt", "md", "rtf", "csv", "tex", "doc", "docx", "odt", "xls",
                "xlsx",
                "ods", "ppt", "pptx", "odp",
            ]
        case .archive:
            ["zip", "7z", "rar", "tar", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "lz4", "lzma", "cab"]
        case .disk: ["iso", "img", "qcow2", "vmdk", "vdi", "vhd", "vhdx", "wim"]
        case .program: ["exe", "msi", "deb", "rpm", "apk", "appimage", "dmg", "pkg", "jar", "snap", "flatpak", "run"]
        }
    }
}
#endif
