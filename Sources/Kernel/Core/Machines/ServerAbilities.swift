import PawlBase

/// What the server was found to be able to, of this object.
struct ServerAbilities: Hashable, Sendable {
    private enum Ranges: Hashable, Sendable {
        case usable
        /// The object was sent without them; how responses differed, if that is why.
        case givenUp(LocalizableMessage?)
    }

    private var ranges = Ranges.usable
    /// A request with Range got no response; the next attempt, without Range, decides.
    ///
    /// The response to that may deny ranges before anything is concluded from the silence.
    private(set) var isSuspect = false
    /// It refused a range without an end.
    private(set) var asksClosed = false
    /// No response without the content has left open whether it is that of the file that is there.
    private(set) var mayAskConditionally = true
    /// More connections to the host are in use than it is known to allow: a denial may be temporary.
    var isCrowded = false

    var rangesUsable: Bool { if case .usable = ranges { true } else { false } }

    /// How the responses differed for which ranges were given up, although the server sends them.
    var difference: LocalizableMessage? { if case .givenUp(let difference) = ranges { difference } else { nil } }

    /// Ranges are not used from now on.
    mutating func giveUpRanges() { if rangesUsable { ranges = .givenUp(nil) } }

    mutating func giveUpRanges(because difference: LocalizableMessage) { ranges = .givenUp(difference) }

    /// The whole was no way out.
    mutating func useRangesAgain() { ranges = .usable }

    /// An attempt has failed, with or without a sign that requests with Range get no response.
    mutating func suspect(_ isSuspect: Bool) { self.isSuspect = isSuspect }

    /// The whole was sent: returns whether that was requested since a range got no response, which tells that ranges cannot be
    /// used.
    mutating func settleSuspicion() -> Bool {
        guard isSuspect else { return false }
        isSuspect = false
        giveUpRanges()
        return true
    }

    /// It refused a range without an end; `false` if it did so before.
    mutating func openRangeRefused() -> Bool {
        defer { asksClosed = true }
        return !asksClosed
    }

    /// It denied that the content has changed, and did not show which one it has.
    mutating func leftContentOpen() { mayAskConditionally = false }

    /// Another run begins; the host is the same.
    mutating func begin() { self = ServerAbilities(isCrowded: isCrowded) }

    init(isCrowded: Bool = false) { self.isCrowded = isCrowded }
}
