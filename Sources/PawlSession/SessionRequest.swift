/// A request of a task, with the interface of `URLRequest`.
public struct SessionRequest: Sendable, Hashable {
    /// The URL, including secrets.
    public var url: String
    /// Header fields by name.
    public var allHTTPHeaderFields: [String: String] = [:]

    /// Creates a request for this URL.
    public init(url: String) { self.url = url }

    /// Sets a header field, or removes it with `nil`.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        allHTTPHeaderFields[field] = value
    }
}
