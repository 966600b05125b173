import CPawlSystem
import CTLS

/// The order in which ciphers are offered: of two that differ only in key length, the shorter first.
///
/// A processor with AES instructions needs a fifth less work for 128 bits than for 256. Only the order changes, not
/// the set of ciphers that the system allows.
package struct CipherOrder: Hashable {
    /// The names for TLS 1.3, separated by colons; `nil` when they are in order already or there are none.
    let current: String?
    /// The same for earlier versions.
    let older: String?

    /// `names` are in the system's order of preference.
    init(of names: [String]) {
        current = Self.list(names.filter { $0.hasPrefix("TLS_") })
        older = Self.list(names.filter { !$0.hasPrefix("TLS_") })
    }

    private static func list(_ names: [String]) -> String? {
        var order: [String] = []
        for name in names where !order.contains(name) {
            if let shorter = shorter(name), names.contains(shorter), !order.contains(shorter) { order.append(shorter) }
            order.append(name)
        }
        return order == names ? nil : order.joined(separator: ":")
    }

    private static func shorter(_ name: String) -> String? {
        for (long, short) in [("AES256-GCM-SHA384", "AES128-GCM-SHA256"), ("AES_256_GCM_SHA384", "AES_128_GCM_SHA256")]
        where name.hasSuffix(long) { return name.dropLast(long.count) + short }
        return nil
    }

    /// Sets the order in an OpenSSL context, on a processor with AES instructions.
    ///
    /// A list that OpenSSL rejects leaves the old one in force.
    package static func preferShortKeys(in context: UnsafeMutableRawPointer) {
        guard pawl_has_aes() != 0 else { return }
        var names: [String] = []
        while let name = unsafe pawl_tls_cipher(context, Int32(names.count)) {
            unsafe names.append(String(cString: name))
        }
        let order = CipherOrder(of: names)
        if let list = order.current { _ = unsafe pawl_tls_set_current_ciphers(context, list) }
        if let list = order.older { _ = unsafe pawl_tls_set_older_ciphers(context, list) }
    }
}
