import PawlTestKit
import Testing

/// The short form of `make attack`.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The service under attack` {
    @Test func `no named attack, and no random one, stops it or exhausts its memory`() throws {
        let script = Checkout.root + "/Scripts/attack"
        let process = try PawlProcess.run(
            "/usr/bin/python3", [script, "--pawl", PawlBinary.path, "--seconds", "15", "--seed", "1"])
        #expect(process.exit == .code(0), "\(process.output) \(process.errors)")
        #expect(process.lines.count { $0.hasPrefix("held") } > 8, "\(process.output)")
    }
}

/// The short form of the second half of `make attack`.
@Suite(.ownThreads, .enabled(if: PawlBinary.isBuilt, "needs the built program")) struct `The client under attack` {
    @Test func `no response, and no change of its files, crashes it, lets it hang or write elsewhere`() throws {
        let script = Checkout.root + "/Scripts/attack-client"
        let process = try PawlProcess.run(
            "/usr/bin/python3", [script, "--pawl", PawlBinary.path, "--episodes", "12", "--seed", "1"])
        #expect(process.exit == .code(0), "\(process.output) \(process.errors)")
        let held = try #require(process.lines.last { $0.hasPrefix("held") }, "\(process.output)")
        #expect(held.contains(" in 12 episodes") && held.contains(" × 0"), "\(held)")
    }
}
