import Glibc

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
