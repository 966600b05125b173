import Glibc
import PawlCore
import PawlServer

/// Ends a process whose threads hang, so that the service begins anew: downloads go on as after a crash.
///
/// Make it before any other thread is started.
struct Restarter: Sendable {
    private let program: String?
    private let folder: String?
    private let arguments: [String]
    private let isSupervised: Bool
    private let isDetached: Bool

    init(isSupervised: Bool, isDetached: Bool) {
        program = try? ServiceStarter.ownPath()
        let text = unsafe getcwd(nil, 0)
        folder = unsafe text.map { unsafe String(cString: $0) }
        unsafe free(text)
        arguments = CommandLine.arguments
        self.isSupervised = isSupervised
        self.isDetached = isDetached
    }

    /// What is told before.
    static func text(_ finding: Heartbeat.Finding) -> String {
        switch finding {
        case .well: ""
        case .stuck:
            "the web server's thread has not answered for \(Heartbeat.patience) seconds; the service starts anew, its downloads continue"
        case .unending:
            "the service was asked to end and has not for \(Heartbeat.grace) seconds; it ends at once, everything unfinished continues at the next start"
        }
    }

    func end(_ finding: Heartbeat.Finding) -> Never {
        guard finding == .stuck else { _exit(Int32(Failure.Code.unfinished.rawValue)) }
        // The supervisor keeps the dump, and starts the service.
        if isSupervised { abort() }
        startAnew()
        _exit(Int32(Failure.Code.unknown.rawValue))
    }

    /// The same program with the same arguments in the place of this one; returns when that cannot be.
    private func startAnew() {
        guard let program else { return }
        if let folder { _ = unsafe chdir(folder) }
        // Nothing of this process is left over, listeners and locks least of all.
        for descriptor in 3..<min(getdtablesize(), 65536) {
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        }
        if isDetached {
            // It has nobody who waits for it, and belongs to no terminal all the same.
            let nobody = unsafe open("/dev/null", O_WRONLY)
            if nobody >= 0 { _ = unsafe setenv(ServiceStarter.readyVariable, String(nobody), 1) }
        }
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &pointers)
    }
}
