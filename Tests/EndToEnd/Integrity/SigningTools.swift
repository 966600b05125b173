import PawlTestKit
import Testing

/// Keys made with gpg and minisign, and signatures by them.
final class SigningTools {
    private let bench: IntegrityBench
    private let home: TemporaryFolder

    init(_ bench: IntegrityBench) throws {
        self.bench = bench
        home = try TemporaryFolder()
    }

    // The agent that gpg starts ends with its folder.
    deinit { _ = try? bench.run("/usr/bin/gpgconf", ["--homedir", home.path, "--kill", "all"]) }

    @discardableResult private func gpg(_ arguments: String...) throws -> IntegrityBench.Run {
        let common = [
            "--homedir", home.path, "--batch", "--yes", "--quiet", "--pinentry-mode", "loopback", "--passphrase", "",
        ]
        let run = try bench.run("/usr/bin/gpg", common + arguments)
        try #require(run.code == 0, "\(arguments): \(run)")
        return run
    }

    /// Makes a key; one made in the past may have expired since.
    func makeKey(_ name: String, expired: Bool = false) throws {
        let past = expired ? ["--faked-system-time", "20200101T000000"] : []
        let run = try bench.run(
            "/usr/bin/gpg",
            ["--homedir", home.path, "--batch", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""] + past + [
                "--quick-gen-key", "\(name)@example.org", "ed25519", "sign", expired ? "1y" : "never",
            ])
        try #require(run.code == 0, "\(run)")
    }

    /// A keyring file with these keys.
    func keyring(_ names: String..., armored: Bool = false) throws -> String {
        let path = bench.folder.path("keyring")
        let keys = names.map { "\($0)@example.org" }
        let form = armored ? ["--armor"] : []
        let run = try bench.run(
            "/usr/bin/gpg",
            ["--homedir", home.path, "--batch", "--yes"] + form + ["--output", path, "--export"] + keys)
        try #require(run.code == 0, "\(run)")
        return path
    }

    /// A signature over `text`; several keys make several signatures in one file.
    func sign(
        _ text: String, by names: String..., as form: String = "--detach-sign", armored: Bool = false,
        expired: Bool = false
    ) throws -> [UInt8] {
        let (source, target) = (home.path("text"), home.path("signature"))
        try FileSystem.write(Array(text.utf8), to: source)
        let past = expired ? ["--faked-system-time", "20200601T000000"] : []
        let signers = names.flatMap { ["--local-user", "\($0)@example.org"] }
        let run = try bench.run(
            "/usr/bin/gpg",
            ["--homedir", home.path, "--batch", "--yes", "--quiet", "--pinentry-mode", "loopback", "--passphrase", ""]
                + past + signers + (armored ? ["--armor"] : []) + ["--output", target, form, source])
        try #require(run.code == 0, "\(run)")
        return try #require(FileSystem.contents(target))
    }

    /// Revokes a key, so that a keyring made afterwards says so.
    func revoke(_ name: String) throws {
        let listed = try gpg("--with-colons", "--list-keys", "\(name)@example.org")
        let line = try #require(listed.lines.first { $0.hasPrefix("fpr:") })
        let print = String(try #require(line.split(separator: ":").last))
        let path = "\(home.path)/openpgp-revocs.d/\(print).rev"
        let text = String(decoding: try #require(FileSystem.contents(path)), as: UTF8.self)
        try FileSystem.write(Array(text.replacing(":-----", with: "-----").utf8), to: home.path("revocation"))
        try gpg("--import", home.path("revocation"))
    }

    /// A key pair of minisign; returns the public key.
    func makeMinisignKey(_ name: String) throws -> String {
        let (secret, key) = (home.path("\(name).key"), home.path("\(name).pub"))
        let run = try bench.run("/usr/bin/minisign", ["-G", "-W", "-f", "-p", key, "-s", secret])
        try #require(run.code == 0, "\(run)")
        let text = String(decoding: try #require(FileSystem.contents(key)), as: UTF8.self)
        return String(try #require(text.split(separator: "\n").last))
    }

    func minisign(_ text: String, by name: String) throws -> [UInt8] {
        let (source, target) = (home.path("text"), home.path("minisig"))
        try FileSystem.write(Array(text.utf8), to: source)
        let run = try bench.run(
            "/usr/bin/minisign", ["-S", "-s", home.path("\(name).key"), "-m", source, "-x", target])
        try #require(run.code == 0, "\(run)")
        return try #require(FileSystem.contents(target))
    }
}
