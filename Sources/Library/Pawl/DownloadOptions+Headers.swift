import PawlHTTP

extension DownloadOptions {
    /// ``headers`` as names and values.
    ///
    /// An empty value stands for a line that removes the field. A line `Name;`, which sends an empty one, has an empty value too: to keep
    /// such lines, change ``headers``, or use ``setHeader(_:to:)``.
    public var headerFields: [DownloadResponse.Field] {
        get {
            headers.map { line in
                let name = line.prefix { $0 != ":" && $0 != ";" }
                let value = line.dropFirst(name.count + 1).drop { $0 == " " }
                return DownloadResponse.Field(name: String(name), value: String(value))
            }
        }
        set { headers = newValue.map { Self.line($0.name, $0.value) } }
    }

    private static func line(_ name: String, _ value: String) -> String {
        value.isEmpty ? "\(name):" : "\(name): \(value)"
    }

    /// Sets a request header field, replacing those of the same name; `nil` takes it out of ``headers``.
    public mutating func setHeader(_ name: String, to value: String?) {
        headers.removeAll { HeaderLine.name(of: $0) == name.lowercased() }
        if let value { headers.append(Self.line(name, value)) }
    }
}
