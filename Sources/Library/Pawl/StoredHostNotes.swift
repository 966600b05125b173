package import PawlBase
import PawlEngine
import PawlSystem

/// What is known of hosts: the connection limits in the file `hosts`, the HSTS hosts (RFC 6797) in `hsts`.
final class StoredHostNotes: HostNotes {
    private enum Change: Sendable {
        case note(HostNote, of: Origin)
        case forget
    }

    private let limits: SharedTable<HostTable, String, Change>
    private let secureHosts: SharedTable<SecureHosts, String, String>
    private let clock: any Clock

    init(in folder: String, clock: any Clock) {
        self.clock = clock
        limits = SharedTable("hosts", in: folder, clock: clock) { change, name, table, now in
            switch change {
            case .note(let note, of: let origin): table.note(note, of: origin, now: now)
            case .forget: table.forget(named: name)
            }
            return true
        }
        secureHosts = SharedTable("hsts", in: folder, clock: clock) { field, host, table, now in
            table.note(field, of: host, now: now)
        }
    }

    func note(of origin: Origin) -> HostNote? { limits.table.note(of: origin, now: clock.wallTime) }

    func note(_ note: HostNote, of origin: Origin) {
        limits.make(.note(note, of: origin), of: HostTable.name(of: origin))
    }

    func forget(host: String?) { for name in limits.table.names(of: host) { limits.make(.forget, of: name) } }

    func forget(_ origin: Origin) { limits.make(.forget, of: HostTable.name(of: origin)) }

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
        ports.hostNotes = StoredHostNotes(in: folder, clock: clock)
        return ports
    }
}

/// What is stored of the connection limits of hosts, for users who look at it.
package enum StoredHostLimits {
    /// The limits that are valid at `now`, by the name of their origin.
    package static func all(
        in folder: String, now: UnixTime
    ) throws(Failure) -> [(origin: String, limit: DownloadSnapshot.HostLimit)] {
        try table(in: folder, now: now).entries.sorted { $0.key < $1.key }.map { name, entry in
            (name, DownloadSnapshot.HostLimit(entry.note, of: HostTable.host(of: name)))
        }
    }

    /// Removes the limits of these hosts, of all with none; returns whether there were any.
    package static func forget(_ hosts: [String], in folder: String, now: UnixTime) throws(Failure) -> Bool {
        var table = try table(in: folder, now: now)
        let names = hosts.isEmpty ? table.names(of: nil) : hosts.flatMap { table.names(of: $0) }
        guard !names.isEmpty else { return false }
        for name in names { table.forget(named: name) }
        try AtomicFile.replace(path(in: folder), with: Array(table.text.utf8), syncs: true)
        return true
    }

    private static func table(in folder: String, now: UnixTime) throws(Failure) -> HostTable {
        let bytes = try AtomicFile.read(path(in: folder), atMost: HostTable.mostBytes)
        return HostTable(parsing: bytes ?? [], now: now)
    }

    private static func path(in folder: String) -> String { "\(folder)/hosts" }
}
