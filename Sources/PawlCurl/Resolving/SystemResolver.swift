import CPawlSystem
import Glibc
import PawlCore
import PawlSystem

/// The system's resolver: `/etc/hosts`, DNS, and whatever else `nsswitch.conf` names.
enum SystemResolver {
    // glibc's <netdb.h> declares them for GNU sources only.
    private static let noData: Int32 = -5
    private static let noFamily: Int32 = -9

    /// Blocks until the resolver has resolved or was given up.
    static func lookUp(_ query: HostQuery) -> HostResult {
        // `HostCache` decides what is looked up again; until then others need the thread.
        pawl_limit_lookups()
        return resolve(query)
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
                entry.pointee.ai_addr,
                entry.pointee.ai_addrlen,
                &text,
                socklen_t(text.count),
                nil,
                0,
                NI_NUMERICHOST
            )
            guard code == 0 else { continue }
            let address = String(
                decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
            // libcurl accepts no zone here; without other addresses it looks the name up itself.
            if NumericAddress.isOne(address), !texts.contains(address) { texts.append(address) }
        }
        return texts
    }
}
