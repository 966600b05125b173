package import PawlBase

/// A registry's refusal: its status, and the first error of its document.
///
/// <https://github.com/opencontainers/distribution-spec/blob/v1.1.0/spec.md#error-codes>
package struct RegistryRefusal: Hashable, Sendable {
    package var status: Int
    /// `MANIFEST_UNKNOWN` and others; empty where it states none.
    package var code: String
    package var hasLogin: Bool
    /// Whether logins are left to programs that are not run.
    package var hasHelpers: Bool
    package var registry: String

    package init(status: Int, code: String = "", hasLogin: Bool, hasHelpers: Bool = false, registry: String) {
        self.status = status
        self.code = code
        self.hasLogin = hasLogin
        self.hasHelpers = hasHelpers
        self.registry = registry
    }

    package static func code(in body: [UInt8]) -> String {
        guard let code = (try? JSON.parse(body))?["errors"]?.array?.first?["code"]?.string, code.utf8.count <= 64,
            code.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == .underscore })
        else { return "" }
        return code
    }

    package var disposition: RetryPolicy.Disposition {
        switch code {
        case "MANIFEST_UNKNOWN", "NAME_UNKNOWN", "BLOB_UNKNOWN", "NAME_INVALID":
            RetryPolicy.Disposition(code: status == 401 ? .authorization : .notFound, isRetried: false)
        case "UNAUTHORIZED", "DENIED": RetryPolicy.Disposition(code: .authorization, isRetried: false)
        case "TOOMANYREQUESTS": RetryPolicy.Disposition(code: .overloaded, isRetried: true, isComplaint: true)
        case _: RetryPolicy.disposition(of: .status(status, retryAfter: nil))
        }
    }

    package var reason: LocalizableMessage {
        switch (status, code) {
        case (_, "MANIFEST_UNKNOWN"):
            .init("registry-no-manifest", "\(registry) has no manifest of this name or digest")
        case (404, _): .init("registry-nothing", "\(registry) has no such repository, manifest or blob")
        case (401, _) where hasLogin, (403, _) where hasLogin:
            .init("registry-denied", "\(registry) does not let this login read it, or there is no such repository")
        case (401, _), (403, _):
            .init("registry-no-login", "\(registry) has no such repository, or it is private, and there is no login")
        case (429, _): .init("registry-limit", "\(registry) limits how much is fetched")
        case _: .init("registry-status", "\(registry) responded with status \(status)")
        }
    }

    package var remedy: Remedy {
        switch status {
        case 401, 403:
            hasHelpers
                ? "check its name; the login is kept by a credential helper, which is not run: use --credential-helper or 'podman login'"
                : "check its name, or log in with 'docker login' or 'podman login'"
        case 404: "check its name"
        case 429: hasLogin ? "try again later" : "try again later, or log in"
        case _: ""
        }
    }

    package var stated: StatedRefusal { StatedRefusal(disposition, because: reason, remedy: remedy, status: status) }
}
