import Glibc
package import PawlBase

/// The error of a system call.
package struct SystemError: Error, Hashable, Sendable {
    package let number: Int32

    package init(number: Int32) { self.number = number }

    package static var last: SystemError { SystemError(number: errno) }

    /// For C functions that return 0 or an errno value.
    package static func check(_ code: Int32) throws(SystemError) {
        guard code == 0 else { throw SystemError(number: code) }
    }

    package var text: String { unsafe String(cString: strerror(number)) }
}

extension SystemError {
    /// The text with an identifier, if it is a usual one.
    package var message: LocalizableMessage { SystemError.message(of: text) }

    /// As a cause within a sentence: "connection refused".
    package var cause: LocalizableMessage {
        message.isForeign
            ? LocalizableMessage(untranslated: text.prefix(1).lowercased() + text.dropFirst()) : message.uncapitalized
    }

    /// What it says about an attempt to connect; `nil` for a number that says nothing of it.
    package var kindOfConnecting: TransferFault.Kind? {
        switch number {
        // A local firewall reports EPERM or EACCES.
        case ENETUNREACH, EHOSTUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, ENONET, EPERM, EACCES: .unreachable
        case EMFILE, ENFILE, ENOBUFS, ENOMEM: .other
        case ETIMEDOUT: .connectTimeout
        case ECONNRESET, EPIPE, ECONNABORTED: .connectionLost
        case ECONNREFUSED: .connectionRefused
        case _: nil
        }
    }

    /// The message of a text of the C library, which other libraries use too.
    package static func message(of text: String) -> LocalizableMessage {
        usual[text] ?? LocalizableMessage(untranslated: text)
    }

    /// The C library has other languages, which this program never selects.
    private static let usual = Dictionary(
        [
            LocalizableMessage("system-denied", "Permission denied"),
            LocalizableMessage("system-not-permitted", "Operation not permitted"),
            LocalizableMessage("system-missing", "No such file or directory"),
            LocalizableMessage("system-disk-full", "No space left on device"),
            LocalizableMessage("system-quota", "Disk quota exceeded"),
            LocalizableMessage("system-read-only", "Read-only file system"),
            LocalizableMessage("system-input-output", "Input/output error"),
            LocalizableMessage("system-file-large", "File too large"),
            LocalizableMessage("system-name-long", "File name too long"),
            LocalizableMessage("system-not-folder", "Not a directory"),
            LocalizableMessage("system-is-folder", "Is a directory"),
            LocalizableMessage("system-exists", "File exists"),
            LocalizableMessage("system-links", "Too many levels of symbolic links"),
            LocalizableMessage("system-files-open", "Too many open files"),
            LocalizableMessage("system-files-open-everywhere", "Too many open files in system"),
            LocalizableMessage("system-unavailable", "Resource temporarily unavailable"),
            LocalizableMessage("system-no-memory", "Cannot allocate memory"),
            LocalizableMessage("system-no-device", "No such device"),
            LocalizableMessage("system-stale", "Stale file handle"),
            LocalizableMessage("system-busy", "Device or resource busy"),
            LocalizableMessage("system-refused", "Connection refused"),
            LocalizableMessage("system-reset", "Connection reset by peer"),
            LocalizableMessage("system-aborted", "Software caused connection abort"),
            LocalizableMessage("system-timed-out", "Connection timed out"),
            LocalizableMessage("system-pipe", "Broken pipe"), LocalizableMessage("system-no-route", "No route to host"),
            LocalizableMessage("system-network-unreachable", "Network is unreachable"),
            LocalizableMessage("system-network-down", "Network is down"),
            LocalizableMessage("system-host-down", "Host is down"),
            LocalizableMessage("system-no-address", "Cannot assign requested address"),
        ].map { ($0.description, $0) }, uniquingKeysWith: { first, _ in first })
}

extension TransferFault {
    /// One address could not be connected to; the cause stands within a sentence.
    package init(connecting error: SystemError) {
        guard !error.message.lacksDescriptors else {
            self = .noDescriptor
            return
        }
        self.init(error.kindOfConnecting ?? .connectionRefused, error.cause)
    }
}
