import PawlBase

/// The property of an option, read and written as text.
struct OptionField: Sendable {
    /// In stored form.
    let texts: @Sendable (DownloadOptions) -> [String]
    /// Takes the stored form; `false` if it cannot be read.
    private(set) var restore: @Sendable (inout DownloadOptions, String) -> Bool
    /// Takes the stored form of another version: the nearest value that is valid, or none.
    let recover: @Sendable (inout DownloadOptions, String) -> Void
    /// Takes what a user wrote.
    private(set) var take: @Sendable (inout DownloadOptions, String, OptionID) throws(Failure) -> Void
    let clear: @Sendable (inout DownloadOptions) -> Void
    let check: @Sendable (DownloadOptions, OptionID) throws(Failure) -> Void

    /// The most values of a list that a user may give.
    private static let mostValues = 10_000

    typealias Path<Value> = any WritableKeyPath<DownloadOptions, Value> & Sendable

    static func value<Value>(_ path: Path<Value>, _ form: OptionForm<Value>) -> OptionField {
        OptionField(
            texts: { [form.text($0[keyPath: path])] },
            restore: { options, text in
                guard let value = form.value(text) else { return false }
                options[keyPath: path] = value
                return true
            },
            recover: { options, text in
                if let value = form.value(text).flatMap(form.nearest) { options[keyPath: path] = value }
            }, take: { (options, text, id) throws(Failure) in options[keyPath: path] = try form.read(text, id) },
            clear: { $0[keyPath: path] = DownloadOptions()[keyPath: path] },
            check: { (options, id) throws(Failure) in try form.check(options[keyPath: path], id) })
    }

    /// An option without a value of its own until it is set.
    static func optional<Value>(_ path: Path<Value?>, _ form: OptionForm<Value>) -> OptionField {
        OptionField(
            texts: { options in options[keyPath: path].map { [form.text($0)] } ?? [] },
            restore: { options, text in
                guard let value = form.value(text) else { return false }
                options[keyPath: path] = value
                return true
            },
            recover: { options, text in
                if let value = form.value(text).flatMap(form.nearest) { options[keyPath: path] = value }
            },
            take: { (options, text, id) throws(Failure) in
                options[keyPath: path] = form.meansNone(text) ? nil : try form.read(text, id)
            }, clear: { $0[keyPath: path] = nil },
            check: { (options, id) throws(Failure) in
                if let value = options[keyPath: path] { try form.check(value, id) }
            })
    }

    /// Checksums of one content, separated by commas; each further one is added.
    static let checksums = {
        var field = optional(\.checksum, .checksum)
        field.restore = { options, text in
            addChecksums(text, to: &options)
            return true
        }
        field.take = { (options, text, id) throws(Failure) in
            addChecksums(try OptionForm.checksum.read(text, id), to: &options)
        }
        return field
    }()

    @Sendable private static func addChecksums(_ text: String, to options: inout DownloadOptions) {
        let known = options.checksum.map { $0.split(separator: ",") } ?? []
        let new = text.split(separator: ",").filter { !known.contains($0) }
        options.checksum = (known + new).joined(separator: ",")
    }

    static func list(_ path: Path<[String]>, _ form: OptionForm<String>) -> OptionField {
        OptionField(
            texts: { $0[keyPath: path] },
            restore: { options, text in
                options[keyPath: path].append(text)
                return true
            }, recover: { options, text in if let value = form.nearest(text) { options[keyPath: path].append(value) } },
            take: { (options, text, id) throws(Failure) in
                guard options[keyPath: path].count < OptionField.mostValues else {
                    throw Failure(
                        refusing: id,
                        because: LocalizableMessage(
                            "too-many-values", "it was given more than \(OptionField.mostValues) times"))
                }
                options[keyPath: path].append(try form.read(text, id))
            }, clear: { $0[keyPath: path] = [] },
            check: { (options, id) throws(Failure) in for value in options[keyPath: path] { try form.check(value, id) }
            })
    }

    /// A property that the option, which is named for the rarer case, sets to the opposite of its default.
    static func flag(_ path: Path<Bool>) -> OptionField {
        let plain = value(path, .truth)
        return OptionField(
            texts: plain.texts, restore: plain.restore, recover: plain.recover,
            take: { (options, text, id) throws(Failure) in
                guard text.isEmpty || OptionForm.truth.value(text) != nil else {
                    throw Failure(refusing: id, "'\(text)'", because: OptionForm<Bool>.truth.expected)
                }
                if text != "false" { options[keyPath: path] = !DownloadOptions()[keyPath: path] }
            }, clear: plain.clear, check: plain.check)
    }
}
