/// Text that becomes part of a request: a field of HTTP, a command of FTP, a word to a proxy.
package enum FieldText {
    /// Whether nothing in it can end a line or a word of C: no control character but a tab (RFC 9110 §5.5).
    package static func isSafe(_ text: String) -> Bool {
        !text.utf8.has { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
    }

    /// What an option is told that is not.
    package static let flaw = "it holds a line break or another control character"
}
