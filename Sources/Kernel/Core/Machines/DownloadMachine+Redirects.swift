// Redirects: followed, refused, or presented to the program.
import PawlBase

extension DownloadMachine {
    /// Follows a redirect (RFC 9110 §15.4).
    ///
    /// The new target is judged as the first was.
    mutating func redirect(to target: String, head: ResponseHead, lane index: Int, now: Instant) -> [Action] {
        let lane = lanes[index]
        guard lane.request.redirects < plan.maximumRedirects else {
            return laneFault(index, .tooManyRedirects(plan.maximumRedirects), now: now)
        }
        let next: WebAddress
        do throws(Failure) { next = try sources[lane.source].current.resolving(target) } catch {
            return laneFault(index, .badRedirect(error.cause ?? LocalizableMessage(untranslated: error.why)), now: now)
        }
        return refusal(of: next, lane: index, now: now) ?? presentRedirect(to: next, head: head, lane: index)
            ?? follow(next, lane: index, now: now)
    }

    /// Follows the redirect, unless it must not be.
    mutating func follow(_ next: WebAddress, lane index: Int, now: Instant) -> [Action] {
        if let refused = refusal(of: next, lane: index, now: now) { return refused }
        sources[lanes[index].source].follow(to: next)
        return [.drop(lanes[index].id), reopen(index, isRedirected: true, now: now)]
    }

    private mutating func refusal(of next: WebAddress, lane index: Int, now: Instant) -> [Action]? {
        guard next.scheme == .http || next.scheme == .https else {
            return laneFault(index, .badRedirect(.init("redirect-not-http", "it points to \(next.redacted)")), now: now)
        }
        let present = sources[lanes[index].source].current
        guard next.scheme == .https || present.scheme == .http || plan.allowsDowngrade else {
            return laneFault(index, .downgrade(to: next.redacted), now: now)
        }
        guard !plan.staysOnHost || next.host == sources[lanes[index].source].given.host else {
            return laneFault(index, .badRedirect(.init("redirect-other-host", "it points to another host")), now: now)
        }
        return nil
    }
}
