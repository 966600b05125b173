#if Queue
package import PawlBase
import PawlIntegrity
import PawlJournal

/// The part of a download that has no column of its own in its record, as text with one value per line.
///
/// `NAME VALUE`, values with escaped line ends; defaults are left out, and unknown names (of a later version)
/// are ignored.
struct StoredOptions: Hashable, Sendable {
    var options = DownloadOptions()
    /// The finished file's new name: the rename came while the part file had the old one.
    var newName: String?
    /// Earlier URLs, which identify its part file.
    var formerSources: [String] = []
    /// The finished file existed before this download.
    var wasThere = false
    /// The response's header section, without fields that may contain a secret.
    var response: [String] = []
    /// The response's URL, without secrets.
    var responseURL: String?
    /// What the finished file was verified with.
    var verification: FileVerification?
    /// Digests in the fragments of its URLs, beside the checksum.
    var digests: [String] = []
    /// The length of its pieces, whose digests are a stored value of the queue: too long to be read with every record.
    var pieceLength: Int64?
    /// Its part file began with the right pieces of a damaged file.
    var isSeeded = false
    /// The only file that it replaces, as it was when it was found wrong.
    var replaced: FileStamp?
    /// Its bytes were found to be wrong.
    var replacedIsWrong = false
    /// Its file when it was published; before that, the part file that is to be published.
    var finished: FileStamp?
    /// The folder in which its part file was begun.
    var place: FolderStamp?
    /// An existing file of its name is compared with its digests before the first request.
    var checksExistingFile = false
    /// Which tracks are wanted of the stream that the URL's playlist is of; `nil` for a file.
    var stream: StreamOptions?
    /// A response that is a playlist makes a stream of it.
    var detectsStreams = false
    /// The segments of a stream when it stopped last.
    var segments: DownloadSnapshot.Segments?
    /// The files of a stream.
    var parts: [QueuedStreamFile] = []
    /// Its folder is that of a rule, or a default: when it has finished, rules for its name and type may move it.
    var followsRules = false
    /// The failure in parts, as JSON; the record has its sentence.
    var failure: String?

    /// The digests that the caller stated, the checksum first.
    var given: [Checksum] { own + digests.compactMap { Checksum(text: $0) } }

    private var own: [Checksum] { options.checksum.flatMap(Checksum.list) ?? [] }

    /// Adds the digests that URLs state, since a record's URLs have no fragments: the first is the checksum if there is none.
    ///
    /// Throws code 28 if one contradicts a known one.
    mutating func add(_ stated: [Checksum]) throws(Failure) {
        let known = given
        let new = stated.filter { !known.contains($0) }
        let others = known.dropFirst(own.count) + new
        try (own.map { ExpectedDigest($0, level: .given, source: "") } + others.map { ExpectedDigest(inFragment: $0) })
            .check()
        var texts = new.map(\.text)
        if options.checksum == nil, !texts.isEmpty { options.checksum = texts.removeFirst() }
        digests += texts
    }

    mutating func takeDigests(of other: StoredOptions) {
        options.checksum = other.options.checksum
        digests = other.digests
    }

    /// A line of the text: how it is written and read, and how it applies to a known URL.
    struct Field: Sendable {
        let name: String
        let whenKnown: DownloadOption.WhenKnown
        let values: @Sendable (StoredOptions) -> [String]
        /// `false` if the value cannot be read; the option keeps the one it has.
        let take: @Sendable (inout StoredOptions, String) -> Bool
        /// Takes what any version stored: a value that is invalid now becomes the nearest valid one.
        let recover: @Sendable (inout StoredOptions, String) -> Void
        /// The values of the default.
        let standard: [String]

        init?(_ option: DownloadOption) {
            guard let name = option.stored else { return nil }
            self.name = name
            whenKnown = option.whenKnown
            values = { option.texts(of: $0.options) }
            take = { option.restore($1, into: &$0.options) }
            recover = { option.recover($1, into: &$0.options) }
            standard = values(StoredOptions())
        }

        init(
            _ name: String, _ whenKnown: DownloadOption.WhenKnown,
            _ values: @escaping @Sendable (StoredOptions) -> [String],
            _ set: @escaping @Sendable (inout StoredOptions, String) -> Void
        ) {
            self.name = name
            self.whenKnown = whenKnown
            self.values = values
            take = { stored, text in
                set(&stored, text)
                return true
            }
            recover = set
            standard = values(StoredOptions())
        }
    }

    @Sendable private static func attributes(_ stored: StoredOptions) -> [String] {
        stored.options.attributes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    }

    @Sendable private static func takeAttribute(_ stored: inout StoredOptions, _ text: String) {
        guard let (name, value) = halves(text[...]) else { return }
        stored.options.attributes[String(name)] = String(value)
    }

    /// The options of a user, and what else the queue keeps.
    static let fields: [Field] =
        DownloadOption.table.compactMap { Field($0) } + [
            Field(
                "ownerssecrets", .takenOver, { [$0.options.usesOwnersSecrets.description] },
                // A download of another party never gains access to the owner's secrets.
                { $0.options.usesOwnersSecrets = $0.options.usesOwnersSecrets && $1 == "true" }),
            Field(
                "deniesprivate", .takenOver, { [$0.options.deniesPrivateAddresses.description] },
                { $0.options.deniesPrivateAddresses = $0.options.deniesPrivateAddresses || $1 == "true" }),
            Field("attribute", .takenOver, attributes, takeAttribute),
            Field("newname", .kept, { $0.newName.map { [$0] } ?? [] }, { $0.newName = $1 }),
            Field("former", .kept, { $0.formerSources }, { $0.formerSources.append($1) }),
            Field("wasthere", .kept, { [$0.wasThere.description] }, { $0.wasThere = $1 == "true" }),
            Field("response", .kept, { $0.response }, { $0.response.append($1) }),
            Field("responseurl", .kept, { $0.responseURL.map { [$0] } ?? [] }, { $0.responseURL = $1 }),
            Field(
                "verified", .kept, { $0.verification.map { [$0.stored] } ?? [] },
                { $0.verification = FileVerification(stored: $1) }),
            Field("digest", .kept, { $0.digests }, { $0.digests.append($1) }),
            Field(
                "piecelength", .kept, { $0.pieceLength.map { [String($0)] } ?? [] },
                { $0.pieceLength = Int64($1).flatMap { $0 > 0 ? $0 : nil } }),
            Field("replaced", .kept, { $0.replaced.map { [$0.text] } ?? [] }, { $0.replaced = FileStamp(text: $1) }),
            Field("finished", .kept, { $0.finished.map { [$0.text] } ?? [] }, { $0.finished = FileStamp(text: $1) }),
            Field("place", .kept, { $0.place.map { [$0.text] } ?? [] }, { $0.place = FolderStamp(text: $1) }),
            Field("replacedwrong", .kept, { [$0.replacedIsWrong.description] }, { $0.replacedIsWrong = $1 == "true" }),
            Field("seeded", .kept, { [$0.isSeeded.description] }, { $0.isSeeded = $1 == "true" }),
            Field(
                "checksexisting", .kept, { [$0.checksExistingFile.description] },
                { $0.checksExistingFile = $1 == "true" }),
            Field(
                "stream", .anotherFile, { $0.stream.map { [$0.stored] } ?? [] },
                { $0.stream = StreamOptions(stored: $1) ?? $0.stream }),
            Field("detectsstreams", .kept, { [$0.detectsStreams.description] }, { $0.detectsStreams = $1 == "true" }),
            Field(
                "segments", .kept, { $0.segments.map { ["\($0.done) \($0.total)"] } ?? [] },
                { $0.segments = DownloadSnapshot.Segments(stored: $1) }),
            Field(
                "part", .kept, { $0.parts.map(\.text) },
                { stored, text in if let part = QueuedStreamFile(text: text) { stored.parts.append(part) } }),
            Field(
                "followsrules", .kept, { [$0.followsRules.description] }, { $0.followsRules = $1 == "true" }),
            Field("failure", .kept, { $0.failure.map { [$0] } ?? [] }, { $0.failure = $1 }),
        ]

    fileprivate static let named = Dictionary(uniqueKeysWithValues: fields.map { (Substring($0.name), $0) })

    init() {}

    init(text: String) {
        guard !text.isEmpty else { return }
        // By bytes: every read of a download parses this, and a page of the queue has many.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let (name, value) = Self.halves(Substring(line)), let field = Self.named[name] else { continue }
            // A value of a later version leaves the default.
            field.recover(&self, Self.plain(value))
        }
    }

    /// The text before and after the first space.
    private static func halves(_ line: Substring) -> (Substring, Substring)? {
        guard let blank = line.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return (line[..<blank], line[line.utf8.index(after: blank)...])
    }

    var text: String { values.reduce(into: "") { $0 += "\($1.name) \(Self.escaped($1.value))\n" } }

    /// Values that differ from the default.
    fileprivate var values: [(name: String, value: String)] {
        if self == Self.untouched { return [] }
        return Self.fields.flatMap { field in
            let values = field.values(self)
            return values == field.standard ? [] : values.map { (name: field.name, value: $0) }
        }
    }

    static let untouched = StoredOptions()

    private static func escaped(_ value: String) -> String {
        var text = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func plain(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return String(text) }
        var value = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                value.append(scalar == "n" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                value.append(scalar)
            }
        }
        return String(value)
    }
}

extension DownloadOptions {
    /// Sets options by their names, as in an input file, or by their stored names in the stored form.
    ///
    /// Throws code 28 for an unknown name or an unreadable value; a job checks the bounds.
    package mutating func take(_ values: [(name: String, value: String)]) throws(Failure) {
        var stored = StoredOptions()
        stored.options = self
        for (name, value) in values {
            let field = StoredOptions.named[Substring(name)].flatMap { $0.whenKnown == .kept ? nil : $0 }
            if let field, field.take(&stored, value) { continue }
            if let option = DownloadOption.named[name] {
                try option.take(value, into: &stored.options)
            } else if field != nil {
                throw Failure(.badOption, "cannot use", at: "the option \(name)", because: "invalid value")
            } else {
                throw Failure(.badOption, "there is no option", at: name, because: "")
            }
        }
        self = stored.options
    }

    /// Whether ``take(_:)`` knows an option of this name.
    package static func hasOption(named name: String) -> Bool {
        if let field = StoredOptions.named[Substring(name)], field.whenKnown != .kept { return true }
        return DownloadOption.named[name] != nil
    }

    /// Whether it reads local files.
    package var readsFiles: Bool { DownloadOption.table.contains { $0.texts(of: self).contains(where: $0.isFile) } }

    /// Values that differ from the default, by their stored names, which every version accepts.
    package var values: [(name: String, value: String)] {
        var stored = StoredOptions()
        stored.options = self
        return stored.values
    }
}
#endif
