import Glibc
import PawlSystem

/// A failed system call of a test.
package struct SetupFailure: Error, CustomStringConvertible {
    package var call: String
    package var code: Int32

    package init(_ call: String, _ code: Int32 = errno) {
        self.call = call
        self.code = code
    }

    package var description: String { "\(call): \(SystemError(number: code).text)" }
}
