import PawlBase

/// Assigns each host to one of several workers, identically in every run and on every machine.
package enum HostPartition {
    /// The worker for a line of the input, counted from 0; invalid lines are assigned too.
    package static func number(of line: PipeLines.Line, among count: Int) -> Int {
        let text: [UInt8]
        switch PipeJob.parse(line) {
        case .success(let job): text = Array(registrable(job.address.host).utf8)
        case .failure: text = line.bytes ?? []
        }
        return Int(FNV.hash64(text) % UInt64(max(1, count)))
    }

    /// The same text for all spellings of a host that a URL may have, such as one with the dot of the DNS's root: what limits
    /// of a host apply to.
    package static func server(_ host: String) -> String {
        if host.utf8.last == .dot { return String(Substring(host.utf8.dropLast())) }
        guard host.utf8.contains(.colon), let bytes = IPv6Address(Array(host.utf8)[...])?.bytes,
            bytes.starts(with: mapped)
        else { return host }
        return bytes[mapped.count...].map { "\($0)" }.joined(separator: ".")
    }

    /// The prefix of an IPv4 address as an IPv6 address: connections to it use IPv4 (RFC 4291 §2.5.5.2).
    private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]

    /// The registrable part of a host name: two labels, or three if the last two are like `co.uk`.
    ///
    /// Without the list of public suffixes: hosts of several owners below another suffix are one host here, which
    /// is what a shared server needs anyway.
    package static func registrable(_ host: String) -> String {
        let host = server(host.lowercased())
        guard !host.contains(":"), !host.utf8.allSatisfy({ $0.isDigit || $0 == .dot }) else { return host }
        let labels = host.split(separator: ".")
        guard labels.count > 2 else { return labels.joined(separator: ".") }
        let isCountry = labels[labels.count - 1].utf8.count == 2
        let kinds: Set<Substring> = ["co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go", "gob", "mil"]
        let count = isCountry && kinds.contains(labels[labels.count - 2]) ? 3 : 2
        return labels.suffix(count).joined(separator: ".")
    }
}
