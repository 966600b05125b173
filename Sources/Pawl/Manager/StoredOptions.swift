import PawlCore

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

    /// How an option of a request applies to a known download of the same URL.
    enum WhenKnown: Sendable {
        /// The known download continues with it.
        case takenOver
        /// It identifies another file than the known one: a separate download.
        case anotherFile
        /// It specifies the expected content: adopted if none was specified, refused if it differs.
        case proof
        /// Not an option of a request.
        case kept
    }

    struct Field: Sendable {
        let name: String
        let whenKnown: WhenKnown
        let values: @Sendable (StoredOptions) -> [String]
        let take: @Sendable (inout StoredOptions, String) -> Void

        init(
            _ name: String,
            _ whenKnown: WhenKnown,
            _ values: @escaping @Sendable (StoredOptions) -> [String],
            _ take: @escaping @Sendable (inout StoredOptions, String) -> Void
        ) {
            self.name = name
            self.whenKnown = whenKnown
            self.values = values
            self.take = take
        }

        /// An option that a known download adopts.
        init(
            _ name: String,
            _ values: @escaping @Sendable (StoredOptions) -> [String],
            _ take: @escaping @Sendable (inout StoredOptions, String) -> Void
        ) {
            self.init(name, .takenOver, values, take)
        }
    }

    private static func one(_ value: (some CustomStringConvertible)?) -> [String] {
        value.map { [$0.description] } ?? []
    }

    @Sendable private static func attributes(_ stored: StoredOptions) -> [String] {
        stored.options.attributes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    }

    @Sendable private static func takeAttribute(_ stored: inout StoredOptions, _ text: String) {
        guard let (name, value) = halves(text[...]) else { return }
        stored.options.attributes[String(name)] = String(value)
    }

    /// All options: how each is written and read, and how it applies to a known URL.
    static let fields: [Field] = [
        Field("name", .anotherFile, { one($0.options.fileName) }, { $0.options.fileName = $1 }),
        Field(
            "naming",
            .anotherFile,
            { [$0.options.naming.rawValue] },
            { stored, text in stored.options.naming = DownloadOptions.Naming(rawValue: text) ?? .server }
        ),
        Field(
            "existing",
            { [$0.options.existingFile.rawValue] },
            { stored, text in
                stored.options.existingFile = DownloadOptions.ExistingFile(rawValue: text) ?? .rename
            }
        ),
        Field("connections", { one($0.options.connections) }, { $0.options.connections = Int($1) }),
        Field("header", { $0.options.headers }, { $0.options.headers.append($1) }),
        Field("user", { one($0.options.user) }, { $0.options.user = $1 }),
        Field("password", { one($0.options.password) }, { $0.options.password = $1 }),
        Field("netrc", { one($0.options.netrc) }, { $0.options.netrc = $1 }),
        Field("referer", { one($0.options.referer) }, { $0.options.referer = $1 }),
        Field("agent", { one($0.options.userAgent) }, { $0.options.userAgent = $1 }),
        Field("cookies", { one($0.options.cookieFile) }, { $0.options.cookieFile = $1 }),
        Field("proxy", { one($0.options.proxy) }, { $0.options.proxy = $1 }),
        Field("noproxy", { one($0.options.noProxy) }, { $0.options.noProxy = $1 }),
        Field("interface", { one($0.options.interface) }, { $0.options.interface = $1 }),
        Field("verifies", { one($0.options.verifiesPeer) }, { $0.options.verifiesPeer = $1 == "true" }),
        Field("authorities", { one($0.options.authorityFile) }, { $0.options.authorityFile = $1 }),
        Field("certificate", { one($0.options.certificate) }, { $0.options.certificate = $1 }),
        Field("key", { one($0.options.key) }, { $0.options.key = $1 }),
        Field("rate", { one($0.options.rateLimit) }, { $0.options.rateLimit = Int64($1) }),
        Field("lowest", { one($0.options.lowestSpeed) }, { $0.options.lowestSpeed = Int64($1) }),
        Field("checksum", .proof, { one($0.options.checksum) }, { $0.options.checksum = $1 }),
        Field("retries", { one($0.options.retries) }, { $0.options.retries = Int($1) ?? 0 }),
        Field("delay", { one($0.options.retryDelay) }, { $0.options.retryDelay = Double($1) ?? 1 }),
        Field("timeout", { one($0.options.timeout) }, { $0.options.timeout = Double($1) ?? 30 }),
        Field(
            "connecttimeout",
            { one($0.options.connectTimeout) },
            { $0.options.connectTimeout = Double($1) }
        ),
        Field(
            "length",
            .proof,
            { one($0.options.expectedLength) },
            { $0.options.expectedLength = Int64($1) }
        ),
        Field(
            "redirects",
            { one($0.options.maximumRedirects) },
            { stored, text in stored.options.maximumRedirects = Int(text) ?? 20 }
        ),
        Field(
            "downgrade",
            { one($0.options.allowsDowngrade) },
            { stored, text in stored.options.allowsDowngrade = text == "true" }
        ),
        Field(
            "trusted",
            { one($0.options.trustsRedirects) },
            { stored, text in stored.options.trustsRedirects = text == "true" }
        ),
        Field(
            "retryafter",
            { one($0.options.maximumRetryAfter) },
            { stored, text in stored.options.maximumRetryAfter = Double(text) ?? 3600 }
        ),
        Field("range", .anotherFile, { one($0.options.range) }, { $0.options.range = $1 }),
        Field(
            "servertime",
            { one($0.options.keepsServerTime) },
            { stored, text in stored.options.keepsServerTime = text == "true" }
        ),
        Field(
            "ownerssecrets",
            { one($0.options.usesOwnersSecrets) },
            // A download of another party never gains access to the owner's secrets.
            { $0.options.usesOwnersSecrets = $0.options.usesOwnersSecrets && $1 == "true" }
        ),
        Field("attribute", attributes, takeAttribute),
        Field("newname", .kept, { one($0.newName) }, { $0.newName = $1 }),
        Field("former", .kept, { $0.formerSources }, { $0.formerSources.append($1) }),
        Field("wasthere", .kept, { one($0.wasThere) }, { $0.wasThere = $1 == "true" }),
        Field("response", .kept, { $0.response }, { $0.response.append($1) }),
    ]

    private static let named = Dictionary(uniqueKeysWithValues: fields.map { (Substring($0.name), $0) })

    init() {}

    init(text: String) {
        guard !text.isEmpty else { return }
        // By bytes: every read of a download parses this, and a page of the queue has many.
        for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
            guard let (name, value) = Self.halves(Substring(line)), let field = Self.named[name] else {
                continue
            }
            field.take(&self, Self.plain(value))
        }
    }

    /// The text before and after the first space.
    private static func halves(_ line: Substring) -> (Substring, Substring)? {
        guard let blank = line.utf8.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        return (line[..<blank], line[line.utf8.index(after: blank)...])
    }

    /// `false` if there is no such option.
    fileprivate mutating func take(_ name: String, _ value: String) -> Bool {
        guard let field = Self.named[Substring(name)] else { return false }
        field.take(&self, value)
        return true
    }

    var text: String {
        values.reduce(into: "") { $0 += "\($1.name) \(Self.escaped($1.value))\n" }
    }

    /// Values that differ from the default.
    fileprivate var values: [(name: String, value: String)] {
        if self == Self.untouched { return [] }
        return Self.fields.flatMap { field in
            let values = field.values(self)
            return values == field.values(Self.untouched) ? [] : values.map { (name: field.name, value: $0) }
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
    /// Sets options by their stored names; returns the first unknown name.
    package mutating func take(_ values: [(name: String, value: String)]) -> String? {
        var stored = StoredOptions()
        stored.options = self
        for (name, value) in values where !stored.take(name, value) { return name }
        self = stored.options
        return nil
    }

    /// Whether it reads local files.
    package var readsFiles: Bool {
        [netrc, cookieFile, authorityFile, certificate, key].contains { $0 != nil }
    }

    /// Values that differ from the default, in the form that ``take(_:)`` accepts.
    package var values: [(name: String, value: String)] {
        var stored = StoredOptions()
        stored.options = self
        return stored.values
    }
}
