import PawlBase
import PawlSystem
import Synchronization

/// The logins that programs have given to this process: each is asked once.
package final class CredentialHelpers: Sendable {
    private let known = Mutex<[CredentialHelper: RegistryLogin?]>([:])
    /// It may ask its user.
    private static let patience = Interval.seconds(60)

    package static let shared = CredentialHelpers()

    package init() {}

    /// What it has answered; `nil` also before it is asked.
    func login(of helper: CredentialHelper) -> RegistryLogin? { known.withLock { $0[helper] ?? nil } }

    /// Runs the program if it has not been, and blocks until it has answered.
    ///
    /// Throws code 24 for one that does not answer.
    func ask(_ helper: CredentialHelper) throws(Failure) -> RegistryLogin? {
        if let login = known.withLock({ $0[helper] }) { return login }
        let flaw: CredentialHelper.Flaw
        do throws(CredentialHelper.Flaw) {
            let login = try Self.answer(of: helper)
            known.withLock { $0[helper] = .some(login) }
            return login
        } catch { flaw = error }
        throw Failure(
            .authorization, "cannot get the login for", at: helper.server, because: "\(helper.program): \(flaw.why)",
            remedy: Remedy(flaw.remedy))
    }

    private static func answer(of helper: CredentialHelper) throws(CredentialHelper.Flaw) -> RegistryLogin? {
        let answer: ChildProcess.Answer?
        do throws(Failure) {
            answer = try ChildProcess.ask(
                helper.program, ["get"], Array(helper.server.utf8), limit: CredentialHelper.longest,
                patience: Self.patience)
        } catch {
            throw CredentialHelper.Flaw(
                why: "it cannot be started: \(error.why)",
                remedy: "put \(helper.program) into a folder of PATH, or log in with 'podman login'")
        }
        guard let answer else {
            throw CredentialHelper.Flaw(why: "it has not answered in 60 seconds, or answered too much")
        }
        return try CredentialHelper.login(answer.bytes, exitCode: answer.code)
    }
}

extension RegistryAccess {
    /// The login that is known for a repository, of a file or of a program that was asked.
    func login(to reference: RegistryReference, _ helpers: CredentialHelpers = .shared) -> RegistryLogin? {
        logins.login(to: reference.registry, reference.name)
            ?? helper(for: reference).flatMap { helpers.login(of: $0) }
    }
}
