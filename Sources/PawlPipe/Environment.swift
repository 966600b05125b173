import Glibc

/// Variables of the environment.
enum Environment {
    /// `nil` for one that is missing or empty.
    static func value(of name: String) -> String? {
        guard let value = unsafe getenv(name) else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }
}
