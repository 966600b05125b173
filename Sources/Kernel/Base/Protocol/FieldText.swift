/// Text that becomes part of a request: an HTTP field, an FTP command, a proxy's login.
package enum FieldText {
    /// Whether nothing in it can end a line or a C string: no control character but a tab (RFC 9110 §5.5).
    package static func isSafe(_ text: String) -> Bool { !text.utf8.has { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F } }

    /// The reason for refusing an option with unsafe text.
    package static let message = LocalizableMessage(
        "text-with-control-characters", "it contains a line break or another control character")
    package static var flaw: String { message.description }
}
