import PawlBase

/// The final check of the texts that become part of a request: those from a queue's database or a netrc file pass no
/// check of options.
enum RequestText {
    static func check(_ values: TransferSettings.Values) throws(TransferFault) {
        for (setting, text) in [
            (OptionID.userAgent, values.userAgent), (.referer, values.referer), (.proxy, values.proxy),
            (.noProxy, values.noProxy),
        ] {
            guard let text, !FieldText.isSafe(text) else { continue }
            throw TransferFault(
                .other,
                LocalizableMessage("fault-option-unsendable", "\(setting.title) cannot be sent: \(FieldText.message)"))
        }
        if let login = values.credentials { try check(login) }
    }

    static func check(_ login: Credentials) throws(TransferFault) {
        guard FieldText.isSafe(login.user), FieldText.isSafe(login.password) else {
            throw TransferFault(
                .other,
                LocalizableMessage(
                    "fault-login-unsendable", "the user name or the password cannot be sent: \(FieldText.message)"))
        }
    }
}
