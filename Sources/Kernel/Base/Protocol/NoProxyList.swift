/// The hosts that bypass the proxy, as the user or `no_proxy` lists them.
///
/// libcurl compares hosts alone. Other programs take an entry `HOST:PORT` for that port only, and so does this.
package enum NoProxyList {
    /// Whether an entry has a port, so that ``hosts(of:port:)`` depends on that.
    package static func namesPorts(_ list: String) -> Bool { entries(list).contains { port(of: $0) != nil } }

    /// The list as libcurl reads it, for requests to `port`: an entry of that port without it, none of another port.
    package static func hosts(of list: String, port: UInt16) -> String {
        let hosts = entries(list).compactMap { entry -> Substring? in
            guard let end = self.port(of: entry) else { return entry }
            return end.port == port ? end.host : nil
        }
        // Only alone it stands for every host.
        return hosts.contains("*") ? "*" : hosts.joined(separator: ",")
    }

    private static func entries(_ list: String) -> [Substring] { list.split { $0 == "," || $0 == " " || $0 == "\t" } }

    /// `nil` for an entry without a port: an IPv6 address has several colons, and needs brackets before a port.
    private static func port(of entry: Substring) -> (host: Substring, port: UInt16)? {
        guard let colon = entry.lastIndex(of: ":"), colon > entry.startIndex else { return nil }
        let (host, digits) = (entry[..<colon], entry[colon...].dropFirst())
        guard host.last == "]" || !host.contains(":"), !digits.isEmpty,
            digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
        else { return nil }
        return (host, port)
    }
}
