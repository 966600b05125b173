import PawlCore
import PawlEngine

/// The final check of the texts that become part of a request: those from a queue's database or a netrc file pass no
/// check of options.
enum RequestText {
    static func check(_ values: TransferSettings.Values) throws(TransferFault) {
        for (name, text) in [
            ("the user agent", values.userAgent), ("the referer", values.referer),
            ("the proxy", values.proxy),
            ("the list of hosts without a proxy", values.noProxy),
        ] {
            guard let text, !FieldText.isSafe(text) else { continue }
            throw TransferFault(.other, "\(name) cannot be sent: \(FieldText.flaw)")
        }
        if let login = values.credentials { try check(login) }
    }

    static func check(_ login: Credentials) throws(TransferFault) {
        guard FieldText.isSafe(login.user), FieldText.isSafe(login.password) else {
            throw TransferFault(.other, "the user name or the password cannot be sent: \(FieldText.flaw)")
        }
    }
}
