import PawlTestKit
import Testing

/// The short form of `make attack`.
@Suite(.enabled(if: PawlBinary.isBuilt, "needs the built program"))
struct `The service under attack` {
    @Test func `no named attack, and no random one, stops it or exhausts its memory`() throws {
        let script = FileSystem.folder(of: #filePath) + "/../../../Scripts/attack"
        let process = try PawlProcess.run(
            "/usr/bin/python3",
            [script, "--pawl", PawlBinary.path, "--seconds", "15", "--seed", "1"]
        )
        #expect(process.exit == .code(0), "\(process.output) \(process.errors)")
        #expect(process.lines.count { $0.hasPrefix("held") } > 8, "\(process.output)")
    }
}
