/// The order in which ciphers are offered: of two that differ in the key's length alone the shorter one first.
///
/// A processor with AES instructions works a fifth less for 128 bits than for 256. Only the order changes: what the
/// system allows stays allowed, and nothing else is.
struct CipherOrder: Hashable {
    /// The names for TLS 1.3, with colons between; `nil` when they stand right or there are none.
    let current: String?
    /// The same for the versions before it.
    let older: String?

    /// `names` are in the system's order of preference.
    init(of names: [String]) {
        current = Self.list(names.filter { $0.hasPrefix("TLS_") })
        older = Self.list(names.filter { !$0.hasPrefix("TLS_") })
    }

    private static func list(_ names: [String]) -> String? {
        var order: [String] = []
        for name in names where !order.contains(name) {
            if let shorter = shorter(name), names.contains(shorter), !order.contains(shorter) {
                order.append(shorter)
            }
            order.append(name)
        }
        return order == names ? nil : order.joined(separator: ":")
    }

    private static func shorter(_ name: String) -> String? {
        for (long, short) in [
            ("AES256-GCM-SHA384", "AES128-GCM-SHA256"), ("AES_256_GCM_SHA384", "AES_128_GCM_SHA256"),
        ] where name.hasSuffix(long) {
            return name.dropLast(long.count) + short
        }
        return nil
    }
}
