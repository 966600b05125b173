import PawlCore

/// The unit by which systemd runs the service: it starts at boot, or with the person's session, and may touch little.
struct SystemdUnit {
    var program: String
    /// What follows `pawl serve`.
    var arguments: [String]
    /// Folders that are written to.
    var folders: [String]
    /// One more, without which it runs all the same.
    var sessions: String?
    /// For the whole machine instead of one person.
    var isSystem: Bool
    /// Who it runs as; `nil` lets systemd make up a user whose folder is /var/lib/pawl.
    var user: String?

    var text: String {
        var lines = [
            "[Unit]", "Description=Pawl, downloads that go on", "Documentation=man:pawl(1)",
        ]
        if isSystem { lines += ["Wants=network-online.target", "After=network-online.target"] }
        let command = ([program, "serve"] + arguments).map(SystemdUnit.quoted).joined(separator: " ")
        lines += [
            "", "[Service]", "Type=notify", "ExecStart=\(command)", "Restart=on-failure", "RestartSec=5",
            // Beats come every second; a process in which nothing moves any more is started anew.
            "WatchdogSec=60",
            // A second service or a wrong option does not get better by itself.
            "RestartPreventExitStatus=11 28", "TimeoutStopSec=60", "LimitNOFILE=65536",
        ]
        lines += identity + SystemdUnit.hardening
        for folder in folders { lines.append("ReadWritePaths=\(SystemdUnit.quoted(folder))") }
        if let sessions { lines.append("ReadWritePaths=\(SystemdUnit.quoted("-" + sessions))") }
        lines += ["", "[Install]", "WantedBy=\(isSystem ? "multi-user" : "default").target", ""]
        return lines.joined(separator: "\n")
    }

    private var identity: [String] {
        // A person's own manager needs a user namespace for the file systems' protection.
        guard isSystem else { return ["PrivateUsers=yes"] }
        let who =
            user.map { ["User=\($0)"] }
            ?? ["DynamicUser=yes", "StateDirectory=pawl", "StateDirectoryMode=0700"]
        return who + [
            "RuntimeDirectory=pawl", "RuntimeDirectoryMode=0700", "CapabilityBoundingSet=",
            "PrivateDevices=yes",
            "ProtectClock=yes", "ProtectHostname=yes", "ProtectKernelLogs=yes", "ProtectKernelModules=yes",
            "ProtectProc=invisible",
        ]
    }

    private static let hardening = [
        "NoNewPrivileges=yes", "ProtectSystem=strict", "ProtectHome=read-only", "PrivateTmp=yes",
        "ProtectControlGroups=yes", "ProtectKernelTunables=yes",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK", "RestrictNamespaces=yes",
        "RestrictRealtime=yes", "RestrictSUIDSGID=yes", "LockPersonality=yes", "MemoryDenyWriteExecute=yes",
        "SystemCallArchitectures=native", "SystemCallFilter=@system-service", "SystemCallErrorNumber=EPERM",
    ]

    /// In quotes, with systemd's own signs taken literally (systemd.service(5), "COMMAND LINES").
    static func quoted(_ text: String) -> String {
        let plain = text.replacing("%", with: "%%")
        guard plain.contains(where: { " \t\"'\\$;".contains($0) }) else { return plain }
        return "\""
            + plain.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("$", with: "$$")
            + "\""
    }
}
