import Glibc
import PawlCore
import PawlEngine

/// What is known of hosts: the connection limits in the file `hosts`, the HSTS hosts (RFC 6797) in `hsts`.
final class StoredHostNotes: HostNotes {
    private enum Change: Sendable {
        case note(Int, isCertain: Bool)
        case forget
    }

    private let limits: SharedTable<HostTable, Origin, Change>
    private let secureHosts: SharedTable<SecureHosts, String, String>
    private let clock: any Clock

    init(in folder: String, clock: any Clock, threads: any Threads) {
        self.clock = clock
        limits = SharedTable("hosts", in: folder, clock: clock, threads: threads) {
            change,
            origin,
            table,
            now in
            switch change {
            case .note(let connections, let isCertain):
                table.note(connections, of: origin, isCertain: isCertain, now: now)
            case .forget:
                table.forget(origin)
            }
            return true
        }
        secureHosts = SharedTable("hsts", in: folder, clock: clock, threads: threads) {
            field,
            host,
            table,
            now in
            table.note(field, of: host, now: now)
        }
    }

    func learntLimit(of origin: Origin) -> Int? { limits.table.connections(of: origin, now: clock.wallTime) }

    func note(_ connections: Int, of origin: Origin, isCertain: Bool) {
        limits.make(.note(connections, isCertain: isCertain), of: origin)
    }

    func forget(_ origin: Origin) { limits.make(.forget, of: origin) }

    func secured(_ address: WebAddress) -> WebAddress {
        let hosts = secureHosts.table
        return hosts.isEmpty ? address : hosts.secured(address, now: clock.wallTime)
    }

    func note(transportSecurity field: String, of host: String) { secureHosts.make(field, of: host) }
}

extension Ports {
    /// These ports, with the connection limits stored in `folder`.
    func remembering(in folder: String?) -> Ports {
        guard let folder, !folder.isEmpty else { return self }
        var ports = self
        ports.hostNotes = StoredHostNotes(in: folder, clock: clock, threads: threads)
        return ports
    }
}
