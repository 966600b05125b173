/// What a task asks for, in the shape of `URLRequest`.
public struct SessionRequest: Sendable, Hashable {
    /// The address, secrets and all.
    public var url: String
    /// Header fields by name.
    public var allHTTPHeaderFields: [String: String] = [:]

    /// A request of this address.
    public init(url: String) { self.url = url }

    /// Says or, with `nil`, takes back a header field.
    public mutating func setValue(_ value: String?, forHTTPHeaderField field: String) {
        allHTTPHeaderFields[field] = value
    }
}
