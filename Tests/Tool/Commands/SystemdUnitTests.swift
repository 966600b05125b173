import PawlTestKit
import Testing

@testable import PawlCommands
@testable import PawlGet
@testable import PawlServiceCommands
@testable import PawlTerminal

@Suite struct SystemdUnitTests {
    private let unit = SystemdUnit(
        program: "/opt/my tools/pawl", arguments: ["--root", "/srv/100%", "--timetable", "else $none"],
        folders: ["/srv/100%"], isSystem: false)

    @Test func `systemd's special characters in a path are escaped`() {
        #expect(
            unit.text.contains(#"ExecStart="/opt/my tools/pawl" serve --root /srv/100%% --timetable "else $$none""#))
        #expect(unit.text.contains("\nReadWritePaths=/srv/100%%\n"))
        #expect(SystemdUnit.quoted(#"a"b\c"#) == #""a\"b\\c""#)
    }

    @Test func `the sessions' folder is writable, and may be missing`() {
        var unit = unit
        unit.sessions = "/home/a b/sessions"
        #expect(unit.text.contains("\nReadWritePaths=\"-/home/a b/sessions\"\n"))
    }

    @Test func `a user unit starts with the session, a system unit at boot without privileges`() {
        #expect(unit.text.hasSuffix("WantedBy=default.target\n"))
        var system = unit
        system.isSystem = true
        #expect(system.text.hasSuffix("WantedBy=multi-user.target\n"))
        #expect(system.text.contains("\nDynamicUser=yes\n") && system.text.contains("\nCapabilityBoundingSet=\n"))
        system.user = "films"
        #expect(system.text.contains("\nUser=films\n") && !system.text.contains("DynamicUser"))
        for text in [unit.text, system.text] {
            for line in ["LimitNICE=-4", "NoNewPrivileges=yes", "ProtectSystem=strict", "PrivateTmp=yes"] {
                #expect(text.contains("\n\(line)\n"))
            }
        }
    }

    @Test func `systemd restarts a service that hangs or crashes, and not one that cannot run`() {
        let lines = unit.text.split(separator: "\n")
        for line in ["Type=notify", "WatchdogSec=60", "Restart=on-failure", "RestartPreventExitStatus=11 28"] {
            #expect(lines.contains { $0 == line }, "\(line)")
        }
        // A requested shutdown ends by itself before systemd kills it.
        #expect(lines.contains("TimeoutStopSec=15"))
    }

    @Test func `options are kept as given, with absolute paths`() throws {
        var options = ServeOptions()
        let words = ["-j5", "--secret-file=/s", "--root", "/r", "--install", "--host-name", "h", "-q"]
        _ = try OptionParser(ServeOptions.table, command: "serve").parse(words, into: &options)
        #expect(options.kept == ["--jobs", "5", "--secret-file", "/s", "--host-name", "h"])
        #expect(options.installs)
    }

    @Test(arguments: [("pawl.service", true), ("pawl.user.service", false)])
    func `the package's units are as hardened as the written ones`(_ name: String, _ isSystem: Bool) throws {
        let lines = String(decoding: try readBytes(at: "\(Checkout.root)/Packaging/\(name)"), as: UTF8.self).split(
            separator: "\n")
        var unit = unit
        unit.isSystem = isSystem
        unit.user = "pawl"
        // The package does not know the user's download root, and its system unit has no business in a home.
        let differing = [
            "PrivateUsers=", "ProtectSystem=", "ProtectHome=", "ProtectKernelTunables=", "PrivateTmp=",
            "ProtectControlGroups=",
        ]
        for line in unit.text.split(separator: "\n") where line.contains("=") {
            let isOwn = ["Description=", "Documentation=", "ExecStart=", "ReadWritePaths="].contains {
                line.hasPrefix($0)
            }
            let isLeftOut = !isSystem && differing.contains { line.hasPrefix($0) }
            let isStricter = isSystem && line.hasPrefix("ProtectHome=")
            #expect(isOwn || isLeftOut || isStricter || lines.contains(line), "\(line)")
        }
    }
}
