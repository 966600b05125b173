import CPawlSystem
import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// The system's resolver: `/etc/hosts`, DNS, and whatever else `nsswitch.conf` names.
enum SystemResolver {
    // glibc's <netdb.h> declares them for GNU sources only.
    private static let noData: Int32 = -5
    private static let noFamily: Int32 = -9

    /// A lookup that is longer has waited for a query without a response.
    private static let longest = Interval.milliseconds(1_900)
    /// How long the queries of a name are sent one after another then.
    private static let memory = Interval.seconds(600)
    /// The end of that time, of `SystemClock` in nanoseconds.
    private static let sequentialUntil = Atomic<Int64>(.min)

    /// Blocks until the resolver has resolved or was given up.
    ///
    /// Some servers respond to one of the two queries of a name only. glibc then sends both three times, two seconds each; but if it
    /// sends the second one after the response to the first, it waits once. Where no query is lost that would take longer.
    static func lookUp(_ query: HostQuery) -> HostResult {
        let start = SystemClock().now
        // `HostCache` decides what is looked up again; until then others need the thread.
        pawl_limit_lookups(start.nanoseconds < sequentialUntil.load(ordering: .relaxed))
        let result = resolve(query)
        let end = SystemClock().now
        if case .addresses = result, query.version == .any, end - start >= longest {
            sequentialUntil.store((end + memory).nanoseconds, ordering: .relaxed)
        }
        return result
    }

    private static func resolve(_ query: HostQuery) -> HostResult {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family =
            switch query.version {
            case .any: AF_UNSPEC
            case .v4: AF_INET
            case .v6: AF_INET6
            }
        var found: UnsafeMutablePointer<addrinfo>? = nil
        let code = unsafe getaddrinfo(query.host, nil, &hints, &found)
        defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
        switch code {
        case 0: return unsafe .addresses(addresses(found))
        case noData where query.version == .any: return lookUpEachVersion(query.host)
        case EAI_NONAME, noData, noFamily: return .missing
        case _: return .unavailable
        }
    }

    /// Of two queries, glibc reports the result of the one when the other was lost.
    private static func lookUpEachVersion(_ host: String) -> HostResult {
        let results = [resolve(HostQuery(host, .v4)), resolve(HostQuery(host, .v6))]
        var found: [String] = []
        for case .addresses(let addresses) in results { found += addresses }
        if !found.isEmpty { return .addresses(found) }
        return results.contains(.unavailable) ? .unavailable : .missing
    }

    private static func addresses(_ first: UnsafeMutablePointer<addrinfo>?) -> [String] {
        var texts: [String] = []
        var next = unsafe first
        while let entry = unsafe next {
            unsafe next = entry.pointee.ai_next
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let code = unsafe getnameinfo(
                entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST)
            guard code == 0 else { continue }
            let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            // libcurl accepts no zone here; without other addresses it looks the name up itself.
            if NumericAddress.isOne(address), !texts.contains(address) { texts.append(address) }
        }
        return texts
    }
}
