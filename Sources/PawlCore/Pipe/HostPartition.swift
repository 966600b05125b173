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

    /// The registrable part of a host name: two labels, or three if the last two are like `co.uk`.
    ///
    /// Without the list of public suffixes: hosts of several owners below another suffix are one host here, which
    /// is what a shared server needs anyway.
    package static func registrable(_ host: String) -> String {
        let host = host.lowercased()
        guard !host.contains(":"), !host.utf8.allSatisfy({ $0.isDigit || $0 == .dot }) else { return host }
        let labels = host.split(separator: ".")
        guard labels.count > 2 else { return labels.joined(separator: ".") }
        let isCountry = labels[labels.count - 1].utf8.count == 2
        let kinds: Set<Substring> = [
            "co", "com", "org", "net", "ac", "gov", "edu", "or", "ne", "go", "gob", "mil",
        ]
        let count = isCountry && kinds.contains(labels[labels.count - 2]) ? 3 : 2
        return labels.suffix(count).joined(separator: ".")
    }
}
