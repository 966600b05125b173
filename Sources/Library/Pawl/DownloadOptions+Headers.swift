extension DownloadOptions {
    /// ``headers`` as names and values.
    ///
    /// A line without a value, which removes a field, is one with an empty value.
    public var headerFields: [DownloadResponse.Field] {
        get {
            headers.map { line in
                let name = line.prefix { $0 != ":" && $0 != ";" }
                let value = line.dropFirst(name.count + 1).drop { $0 == " " }
                return DownloadResponse.Field(name: String(name), value: String(value))
            }
        }
        set { headers = newValue.map { $0.value.isEmpty ? "\($0.name):" : "\($0.name): \($0.value)" } }
    }

    /// Sets a request header field, replacing those of the same name; `nil` takes it out of ``headers``.
    public mutating func setHeader(_ name: String, to value: String?) {
        var fields = headerFields.filter { $0.name.lowercased() != name.lowercased() }
        if let value { fields.append(DownloadResponse.Field(name: name, value: value)) }
        headerFields = fields
    }
}
