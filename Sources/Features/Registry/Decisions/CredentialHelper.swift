import PawlBase

/// A program that keeps logins, and what it is asked and answers.
///
/// <https://docs.docker.com/reference/cli/docker/login/#credential-helper-protocol>
package struct CredentialHelper: Hashable, Sendable {
    /// Without the beginning that all have.
    let name: String
    /// What it calls the registry.
    let server: String

    package static let longest = 64 << 10

    package init(name: String, server: String) {
        self.name = name
        self.server = server
    }

    /// Found in PATH: a name is never a path.
    package var program: String { "docker-credential-\(name)" }

    package static func isName(_ text: String) -> Bool {
        1...64 ~= text.utf8.count
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || [.dot, .dash, .underscore].contains($0) }
    }

    /// Why an answer has no login, in words.
    package struct Flaw: Error, Hashable, Sendable {
        package var why: String
        /// What the user can do.
        package var remedy: String = "log in with 'podman login', or leave out --credential-helper"
    }

    /// The login of an answer; `nil` if the program has none for the registry.
    package static func login(_ answer: [UInt8], exitCode: Int32) throws(Flaw) -> RegistryLogin? {
        guard exitCode == 0 else {
            let text = String(decoding: answer.prefix(200), as: UTF8.self)
            if text.hasPrefix("credentials not found") { return nil }
            let line = text.split(whereSeparator: \.isNewline).first.map { ": " + Redaction.printable(String($0)) }
            throw Flaw(why: "it ended with code \(exitCode)\(line ?? "")")
        }
        guard let root = try? JSON.parse(answer), let user = root["Username"]?.string,
            let secret = root["Secret"]?.string
        else { throw Flaw(why: "its answer is not a login") }
        if user == RegistryLogin.tokenUser, !secret.isEmpty {
            return RegistryLogin(user: user, password: "", identityToken: secret)
        }
        guard let login = RegistryLogin.checked(user, secret) else {
            throw Flaw(why: "its answer has an empty user name, or control characters")
        }
        return login
    }
}
