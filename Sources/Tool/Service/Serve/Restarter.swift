import Glibc
import PawlBase
package import PawlServer
import PawlSystem

/// Ends a process whose threads hang and restarts the service; downloads resume as after a crash.
///
/// Make it before any other thread is started.
package struct Restarter: Sendable {
    private let program: String?
    private let folder: String?
    private let arguments: [String]
    private let isSupervised: Bool
    private let isDetached: Bool

    package init(isSupervised: Bool, isDetached: Bool) {
        program = try? ServiceStarter.ownPath()
        let text = unsafe getcwd(nil, 0)
        folder = unsafe text.map { unsafe String(cString: $0) }
        unsafe free(text)
        arguments = CommandLine.arguments
        self.isSupervised = isSupervised
        self.isDetached = isDetached
    }

    /// The message logged before.
    package static func text(_ finding: Heartbeat.Finding) -> String {
        switch finding {
        case .well: ""
        case .stuck:
            "the web server's thread has not responded for \(Heartbeat.patience) seconds; restarting the service, its downloads resume"
        case .unending:
            "the service has not stopped within \(Heartbeat.grace) seconds; exiting now, unfinished downloads resume at the next start"
        }
    }

    package func end(_ finding: Heartbeat.Finding) -> Never {
        guard finding == .stuck else { _exit(Int32(Failure.Code.unfinished.rawValue)) }
        // The supervisor keeps the core dump and restarts the service.
        if isSupervised { abort() }
        startAnew()
        _exit(Int32(Failure.Code.unknown.rawValue))
    }

    /// Replaces this process with the same program and arguments; returns if that fails.
    private func startAnew() {
        guard let program else { return }
        if let folder { _ = unsafe chdir(folder) }
        // No descriptor of this process may remain, in particular no listener or lock.
        for descriptor in 3..<min(getdtablesize(), 65536) {
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        }
        if isDetached {
            // No process waits for it, yet it must detach from the terminal.
            let nobody = unsafe open("/dev/null", O_WRONLY)
            if nobody >= 0 { _ = unsafe setenv(ServiceStarter.readyVariable, String(nobody), 1) }
        }
        SystemDescriptors.restoreLimit()
        var none = sigset_t()
        unsafe sigemptyset(&none)
        unsafe pthread_sigmask(SIG_SETMASK, &none, nil)
        var pointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        _ = unsafe execv(program, &pointers)
    }
}
