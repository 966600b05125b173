import Pawl
import PawlBase
import PawlSystem
package import PawlTerminal

extension Command {
    package static let hosts = Command(
        "hosts", "[options] [HOST...]", summary: "show or forget connection limits of hosts",
        details: """
            Show how many connections hosts allowed when they refused a further one. For a day (an hour after a single \
            refusal) downloads whose number of connections is automatic begin with that many; connections given with -x \
            are used. With --forget, forget them: those of these hosts, or all; a running service too.
            """, operand: .words([]), taking: [VerbOptions.forget] + VerbOptions.common
    ) { (options, hosts) throws(Failure) in
        guard let folder = Environment.pawlState else {
            throw Failure(
                .cannotOpen, "cannot find", at: "the state folder", because: "there is no home directory",
                remedy: "set HOME or XDG_STATE_HOME")
        }
        if options.forgets { return try forget(hosts, in: folder, options) }
        let limits = try StoredHostLimits.all(in: folder, now: SystemClock().wallTime).filter { limit in
            hosts.isEmpty || hosts.contains { $0.lowercased() == limit.limit.host.lowercased() }
        }
        CommandOutput(options).show(
            .array(limits.map { ["origin": .string($0.origin), "limit": $0.limit.json] }),
            limits.isEmpty
                ? "no limit of a host is known"
                : limits.map { "\($0.origin): \(HostLimitText($0.limit).line)" }.joined(separator: "\n"))
        return 0
    }

    private static func forget(_ hosts: [String], in folder: String, _ options: VerbOptions) throws(Failure) -> Int32 {
        let isStored = try StoredHostLimits.forget(hosts, in: folder, now: SystemClock().wallTime)
        let client = try options.client()
        let isRunning = try client.isServiceRunning()
        if isRunning {
            let names: [JSON] = hosts.isEmpty ? [.null] : hosts.map { .string($0) }
            for name in names { try client.call("pawl.forgetHostLimits", [name], to: "forget limits") }
        }
        let what = hosts.isEmpty ? "all hosts" : hosts.joined(separator: ", ")
        CommandOutput(options).show(
            ["forgotten": .bool(isStored || isRunning)],
            isStored || isRunning ? "\(what): forgotten" : "\(what): no limit is known")
        return 0
    }
}
