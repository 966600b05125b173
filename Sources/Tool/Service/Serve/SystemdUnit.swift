import PawlTerminal

/// The systemd unit of the service: it starts at boot or with the user's session, and is sandboxed.
struct SystemdUnit {
    var program: String
    /// The arguments after `pawl serve`.
    var arguments: [String]
    /// Folders that must be writable.
    var folders: [String]
    /// Another writable folder, which need not exist.
    var sessions: String?
    /// A system unit instead of a user unit.
    var isSystem: Bool
    /// The user to run as; `nil` for a dynamic user with the state folder /var/lib/pawl.
    var user: String?

    var text: String {
        var lines = ["[Unit]", "Description=Pawl download service", "Documentation=man:pawl-serve(1)"]
        if isSystem { lines += ["Wants=network-online.target", "After=network-online.target"] }
        let command = ([program, "serve"] + arguments).map(SystemdUnit.quoted).joined(separator: " ")
        lines += [
            "", "[Service]", "Type=notify", "ExecStart=\(command)", "Restart=on-failure", "RestartSec=5",
            // Keep-alive messages come every second; a process that hangs is restarted.
            "WatchdogSec=60",
            // A restart does not cure a second service or a wrong option.
            "RestartPreventExitStatus=11 28", "TimeoutStopSec=15", "LimitNOFILE=65536",
            // libdispatch gives a thread this priority, and logs a failure where it may not.
            "LimitNICE=-4",
        ]
        lines += identity + SystemdUnit.hardening
        for folder in folders { lines.append("ReadWritePaths=\(SystemdUnit.quoted(folder))") }
        if let sessions { lines.append("ReadWritePaths=\(SystemdUnit.quoted("-" + sessions))") }
        lines += ["", "[Install]", "WantedBy=\(isSystem ? "multi-user" : "default").target", ""]
        return lines.joined(separator: "\n")
    }

    private var identity: [String] {
        // A user manager needs a user namespace for file system protection.
        guard isSystem else { return ["PrivateUsers=yes"] }
        let who = user.map { ["User=\($0)"] } ?? ["DynamicUser=yes", "StateDirectory=pawl", "StateDirectoryMode=0700"]
        return who + [
            "RuntimeDirectory=pawl", "RuntimeDirectoryMode=0700", "CapabilityBoundingSet=", "PrivateDevices=yes",
            "ProtectClock=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
            "ProtectProc=invisible",
        ]
    }

    private static let hardening = [
        "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=read-only", "PrivateTmp=yes",
        "ProtectControlGroups=yes", "ProtectKernelTunables=yes",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "RestrictNamespaces=yes", "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes", "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
    ]

    /// The text quoted, with systemd's special characters escaped (systemd.service(5), "COMMAND LINES").
    static func quoted(_ text: String) -> String {
        let plain = text.replacing("%", with: "%%")
        guard plain.contains(where: { " \t\"'\\$;".contains($0) }) else { return plain }
        return "\"" + plain.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "$$")
            + "\""
    }
}
