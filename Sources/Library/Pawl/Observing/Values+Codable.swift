import PawlBase

// Values of the library as data, for programs that store or send them; those that are not here conform where they are
// declared. Unknown keys are ignored.

extension Download.ID: Codable {
    /// Reads 16 hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        let text = try value.decode(String.self)
        guard let id = Self(text) else {
            throw DecodingError.dataCorruptedError(in: value, debugDescription: "\(text) is not an identifier")
        }
        self = id
    }

    /// Writes 16 hexadecimal digits: a number of 64 bits is not exact in every reader of JSON.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}

extension DownloadState: Codable {}

extension PawlError.Code: Codable {}

extension DownloadOptions.Naming: Codable {}

extension DownloadOptions.ExistingFile: Codable {}

extension DownloadOptions: Codable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(_ text: String) { stringValue = text }
        init?(stringValue: String) { self.init(stringValue) }
        init?(intValue: Int) { nil }
    }

    /// Reads what ``encode(to:)`` wrote, in this or another version.
    ///
    /// A value that is no longer valid becomes the nearest valid one, or leaves the default.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        self.init()
        folder = try values.decodeIfPresent(String.self, forKey: Key("folder")) ?? folder
        taskDescription = try values.decodeIfPresent(String.self, forKey: Key("description"))
        attributes = try values.decodeIfPresent([String: String].self, forKey: Key("attributes")) ?? [:]
        usesOwnersSecrets = try values.decodeIfPresent(Bool.self, forKey: Key("usesOwnersSecrets")) ?? usesOwnersSecrets
        deniesPrivateAddresses = try values.decodeIfPresent(Bool.self, forKey: Key("deniesPrivateAddresses")) ?? false
        for option in DownloadOption.table {
            let texts = try values.decodeIfPresent([String].self, forKey: Key(option.name)) ?? []
            for text in texts { option.recover(text, into: &self) }
        }
    }

    /// Writes an object with the options that differ from their defaults, by their names on the command line; each is a
    /// list of texts.
    ///
    /// Passwords, header fields and keys are among them: store them as you would store those.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        let standard = DownloadOptions()
        if folder != standard.folder { try values.encode(folder, forKey: Key("folder")) }
        try values.encodeIfPresent(taskDescription, forKey: Key("description"))
        if !attributes.isEmpty { try values.encode(attributes, forKey: Key("attributes")) }
        if !usesOwnersSecrets { try values.encode(false, forKey: Key("usesOwnersSecrets")) }
        if deniesPrivateAddresses { try values.encode(true, forKey: Key("deniesPrivateAddresses")) }
        for option in DownloadOption.table where option.texts(of: self) != option.texts(of: standard) {
            try values.encode(option.texts(of: self), forKey: Key(option.name))
        }
    }
}

extension PawlError: Codable {
    private enum Key: String, CodingKey { case code, what, place, why, remedy, status, retryAfter, resumeData }

    /// Reads what ``encode(to:)`` wrote.
    public init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Key.self)
        let code = Failure.Code(rawValue: try values.decode(UInt8.self, forKey: .code))
        var failure = Failure(
            code, try values.decode(String.self, forKey: .what), at: try values.decode(String.self, forKey: .place),
            because: try values.decode(String.self, forKey: .why),
            remedy: Remedy(try values.decode(String.self, forKey: .remedy)))
        failure.status = try values.decodeIfPresent(Int.self, forKey: .status)
        self.init(failure)
        retryAfter = try values.decodeIfPresent(Duration.self, forKey: .retryAfter)
        downloadTaskResumeData = try values.decodeIfPresent([UInt8].self, forKey: .resumeData)
    }

    /// Writes everything but ``underlying``, ``response`` and ``failingURL``.
    public func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encode(code, forKey: .code)
        try values.encode(what, forKey: .what)
        try values.encode(place, forKey: .place)
        try values.encode(why, forKey: .why)
        try values.encode(remedy, forKey: .remedy)
        try values.encodeIfPresent(status, forKey: .status)
        try values.encodeIfPresent(retryAfter, forKey: .retryAfter)
        try values.encodeIfPresent(downloadTaskResumeData, forKey: .resumeData)
    }
}

extension DownloadNotice: Codable {
    /// Reads the sentence.
    public init(from decoder: any Decoder) throws {
        self.init(LocalizableMessage(untranslated: try decoder.singleValueContainer().decode(String.self)))
    }

    /// Writes the sentence, in English.
    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        try value.encode(description)
    }
}

// Durations are seconds in the stored form. The synthesized conformances choose these, which are more specific.
extension KeyedDecodingContainer {
    func decode(_ type: Duration.Type, forKey key: Key) throws -> Duration {
        let seconds = try decode(Double.self, forKey: key)
        guard seconds.magnitude <= 1e12 else {
            throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "\(seconds) is no duration")
        }
        return .seconds(seconds)
    }

    func decodeIfPresent(_ type: Duration.Type, forKey key: Key) throws -> Duration? {
        guard contains(key), try !decodeNil(forKey: key) else { return nil }
        return try decode(type, forKey: key)
    }
}

extension KeyedEncodingContainer {
    mutating func encode(_ duration: Duration, forKey key: Key) throws { try encode(duration.seconds, forKey: key) }

    mutating func encodeIfPresent(_ duration: Duration?, forKey key: Key) throws {
        if let duration { try encode(duration, forKey: key) }
    }
}
