package import PawlBase

/// A hub's refusal, from the fields of its response.
package struct HubRefusal: Hashable, Sendable {
    package var status: Int
    /// `X-Error-Code`; empty where there is none.
    package var code: String
    package var hasToken: Bool
    /// The hub's name in messages.
    package var hub: String

    package init(status: Int, code: String, hasToken: Bool, hub: String) {
        self.status = status
        self.code = code
        self.hasToken = hasToken
        self.hub = hub
    }

    package init(_ head: ResponseHead, _ access: HubAccess) {
        let stated = head.field("x-error-code") ?? ""
        let isCode = stated.utf8.count <= 64 && stated.utf8.allSatisfy { $0.isLetter || $0.isDigit }
        self.init(
            status: head.status, code: isCode ? stated : "", hasToken: access.token != nil,
            hub: access.endpoint.authority)
    }

    /// How the attempt is repeated, and which code its failure has.
    package var disposition: RetryPolicy.Disposition {
        switch code {
        // A private repository looks like none.
        case "RepoNotFound" where !hasToken, "GatedRepo", "DisabledRepo":
            RetryPolicy.Disposition(code: .authorization, isRetried: false)
        case "RepoNotFound", "RevisionNotFound", "EntryNotFound":
            RetryPolicy.Disposition(code: .notFound, isRetried: false)
        case _: RetryPolicy.disposition(of: .status(status, retryAfter: nil))
        }
    }

    package var reason: LocalizableMessage {
        switch code {
        case "RepoNotFound" where hasToken:
            .init("hub-no-repository", "\(hub) has no such repository, or the token may not read it")
        case "RepoNotFound": Self.unknown(hub)
        case "RevisionNotFound": .init("hub-no-revision", "the repository has no such revision")
        case "EntryNotFound": Self.noEntry
        case "GatedRepo" where hasToken:
            .init("hub-gated", "its authors give access on request, and the owner of the token has none")
        case "GatedRepo": .init("hub-gated-no-token", "its authors give access on request, and there is no token")
        case "DisabledRepo": .init("hub-disabled", "\(hub) has disabled the repository")
        case _:
            switch status {
            case 401 where !hasToken: Self.unknown(hub)
            case 401: .init("hub-token-refused", "\(hub) does not accept the token")
            case 403: .init("hub-forbidden", "\(hub) refuses access to it")
            case 404: .init("hub-nothing", "\(hub) has nothing there")
            case 429: .init("hub-limit", "\(hub) limits how many requests are made in five minutes")
            case _: .init("hub-status", "\(hub) responded with status \(status)")
            }
        }
    }

    static let noEntry = LocalizableMessage("hub-no-entry", "the repository has no such file at this revision")

    private static func unknown(_ hub: String) -> LocalizableMessage {
        .init("hub-private", "\(hub) has no such repository, or it is private, and there is no token")
    }

    package var remedy: Remedy {
        switch code {
        case "RepoNotFound": hasToken ? "check its name" : "check its name, or set HF_TOKEN"
        case "RevisionNotFound": "check the revision behind @"
        case "EntryNotFound": "check the path behind the repository"
        case "GatedRepo": hasToken ? "request access on its page" : "request access on its page, and set HF_TOKEN"
        case _:
            status == 401
                ? (hasToken ? "renew it, and set HF_TOKEN" : "check its name, or set HF_TOKEN")
                : status == 429 ? "try again later, or set HF_TOKEN" : ""
        }
    }

    package var stated: StatedRefusal { StatedRefusal(disposition, because: reason, remedy: remedy, status: status) }
}
