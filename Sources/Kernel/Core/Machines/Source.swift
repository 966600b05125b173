package import PawlBase

/// One address of the content and its state.
package struct Source: Hashable, Sendable {
    /// Why its content has to be shown to be that of the bytes on disk: it replaces another address.
    ///
    /// Until then no bytes on disk are discarded for it.
    package enum Trial: Hashable, Sendable {
        /// The user has replaced the address.
        case byUser
        /// It is one that the program requested for an expired one, or was the plan's from the beginning.
        case byProgram
    }

    enum Standing: Hashable, Sendable {
        case usable
        /// `lacksRanges`: its ranges cannot be used, while another source seemed to have the content.
        case leftOut(lacksRanges: Bool)
    }

    package let given: WebAddress
    /// The text of ``given``, the key of its records.
    package let text: String
    /// The target of redirects; the given address again after the target expired.
    package private(set) var current: WebAddress
    /// The key of the records of ``current``.
    package private(set) var host: String
    /// The digest that a redirect of it stated of its target (X-Linked-ETag).
    private(set) var linked: Checksum?
    /// Its redirect target was abandoned once since the last progress.
    private var wentBack = false
    private(set) var standing = Standing.usable
    /// Its bytes are proven to be the content's: the download began with it, or an overlap agreed.
    ///
    /// The validators of its hosts are in the representation's records. They may prove it during a trial, too.
    package internal(set) var isProven = false
    package internal(set) var trial: Trial?
    package internal(set) var parts = PartLimits()
    /// It has sent a part, and no request with Range timed out since.
    var sendsParts = false
    /// It has rejected a further connection while it served another: that rejection says nothing about the content.
    var turnsAway = false
    /// Its host requested no request before; other sources are used meanwhile.
    var restsUntil: Instant?

    package init(_ address: WebAddress) {
        given = address
        text = address.text
        current = address
        host = address.origin.text
    }

    /// Replaces another address.
    init(_ address: WebAddress, replacing trial: Trial) {
        self.init(address)
        self.trial = trial
    }

    package var isUsable: Bool { if case .usable = standing { true } else { false } }

    package var isOnTrial: Bool { if case .some = trial { true } else { false } }

    // Inlined: for a call the whole value is copied.
    @inline(__always) package var isFileTransfer: Bool {
        switch given.scheme {
        case .ftp, .ftps, .sftp: true
        case .http, .https, .located: false
        }
    }

    /// Another run begins.
    mutating func begin() {
        standing = .usable
        sendsParts = false
        wentBack = false
        parts = PartLimits()
        restsUntil = nil
    }

    /// `false` if it rests until then already.
    @discardableResult mutating func rest(until: Instant) -> Bool {
        if let restsUntil, restsUntil >= until { return false }
        restsUntil = until
        return true
    }

    func isResting(now: Instant) -> Bool { restsUntil.map { now < $0 } ?? false }

    // MARK: redirects

    mutating func follow(to target: WebAddress) {
        current = target
        host = target.key(redirectedFrom: given)
    }

    /// The redirect stated this digest of its target.
    mutating func link(_ digest: Checksum) { linked = digest }

    /// The target works, and may expire again.
    mutating func worked() { wentBack = false }

    /// The original address chooses a target again.
    mutating func restart() {
        follow(to: given)
        wentBack = false
    }

    /// The next request goes to the original address: nothing that its redirects said holds.
    mutating func forgetTarget() {
        restart()
        linked = nil
    }

    /// The target has expired: the original address redirects to the next one.
    ///
    /// `false` where it did so before, or does not redirect.
    mutating func goBack() -> Bool {
        guard current != given, !wentBack else { return false }
        forgetTarget()
        wentBack = true
        return true
    }

    // MARK: what it is worth

    mutating func leaveOut(lacksRanges: Bool) { standing = .leftOut(lacksRanges: lacksRanges) }

    /// It is left out for another reason than its ranges.
    mutating func leaveOut() { if isUsable { standing = .leftOut(lacksRanges: false) } }

    /// It may have the right bytes, without ranges; `false` if it was not left out for those.
    mutating func takeBack() -> Bool {
        guard case .leftOut(lacksRanges: true) = standing else { return false }
        standing = .usable
        return true
    }

    /// Its content is the one on disk.
    mutating func prove() {
        isProven = true
        trial = nil
    }
}

/// How long the parts are that a source sends before its connection breaks, or at all.
package struct PartLimits: Hashable, Sendable {
    /// How many bytes its last response brought, if it broke and most of them were compared: the next ones compare fewer.
    package private(set) var breaksAfter: Int64?
    /// The longest part that it sent, where that was too short for the bytes to compare and others after them.
    package private(set) var longest: Int64?
    /// Where such a part ended; a later one that ends there too ends with the content.
    private(set) var end: Int64?
    /// Whether a response of it broke.
    private(set) var hasBroken = false

    /// A part was too short, and ended there.
    mutating func ended(at end: Int64) { self.end = end }

    mutating func shortened(to length: Int64) { longest = length }

    /// A response broke after `received` bytes, of which `compared` were to be compared; returns whether the whole was
    /// requested instead of parts, which is no way out.
    mutating func broke(after received: Int64, compared: Int64) -> Bool {
        let isNew = !hasBroken && longest != nil
        hasBroken = true
        if received < 2 * compared || breaksAfter != nil {
            breaksAfter = received < 2 * DownloadMachine.overlap ? received : nil
        }
        return isNew
    }
}

extension WebAddress {
    /// The origin, and the path and query of a redirect's target: validators speak for one address only.
    ///
    /// What signs a request does not count: it differs from one redirect to the next. The rest may contain a secret, and is
    /// hashed.
    fileprivate func key(redirectedFrom given: WebAddress) -> String {
        let content = unsignedTarget
        guard content != given.unsignedTarget else { return origin.text }
        return "\(origin.text)#\(String(CRC64.value(of: content.utf8), radix: 16))"
    }
}
