import PawlBase
import Synchronization

/// How a server uses HTTP/1.1 and its connections; the odds are those of one response.
package struct SimulatedHTTP: Sendable, Hashable {
    /// Responses have the version HTTP/1.0.
    package var isOld = false
    /// `Connection: close`.
    package var closes = 0.0
    /// A body whose length is known is chunked.
    package var chunks = 0.0
    /// A body whose length is not known ends with the connection, otherwise it is chunked.
    package var endsByClose = 0.0
    /// Chunks begin and end anywhere, and have padding, extensions and trailers.
    package var pads = 0.0
    /// Interim responses precede the final one.
    package var hints = 0.0
    /// A small body is sent together with its header section.
    package var joins = 0.0
    /// The client receives the bytes in several reads.
    package var cuts = 0.0
    /// Bytes that belong to no response follow.
    package var leftovers = 0.0
    /// The server closes the connection after the response, without announcing it.
    package var closesIdle = 0.0
    /// A reused connection is lost when the request arrives.
    package var dies = 0.0

    package init() {}
}

/// How one response is sent.
struct ResponseForm: Sendable {
    enum Framing: Sendable, Hashable {
        case length
        case chunked
        case untilClose
    }

    /// What the server does with the connection after the response.
    enum Aftermath: Sendable, Hashable {
        case keeps
        /// It closes the connection together with the last bytes.
        case closesAtOnce
        case closesLater
        /// Unrequested bytes follow immediately.
        case straysAtOnce
        case straysLater
    }

    var framing: Framing
    var isOld = false
    /// Whether the response announces the end of the connection.
    var closes = false
    var pads = false
    var isJoined = false
    var isCut = false
    /// The status codes of interim responses.
    var interim: [Int] = []
    var aftermath = Aftermath.keeps
    /// When a later aftermath happens, after the response.
    var delay = Interval.zero
    /// Whether the client is not notified of it, and finds it only when it looks.
    var isQuiet = false

    /// Whether the connection may carry another request.
    var keepsConnection: Bool { !closes && !isOld && framing != .untilClose }
}

extension SimulatedNetwork.State {
    /// Draws how a response is sent.
    ///
    /// Without odds nothing is drawn: what else is drawn stays the same.
    mutating func form(of response: SimulatedResponse, host: String) -> ResponseForm {
        let http = servers[host]?.http ?? SimulatedHTTP()
        var form = ResponseForm(framing: framing(of: response, http))
        form.isOld = http.isOld
        form.closes = draws(http.closes)
        form.pads = draws(http.pads)
        form.isJoined = draws(http.joins)
        form.isCut = draws(http.cuts)
        // HTTP/1.0 has no interim responses.
        if !http.isOld, draws(http.hints) { form.interim = dice.pick([[103], [103], [103, 103], [100], [102, 103]]) }
        if form.keepsConnection { drawAftermath(of: &form, http) }
        note(form)
        return form
    }

    private mutating func draws(_ odds: Double) -> Bool { odds > 0 && dice.chance(odds) }

    private mutating func framing(of response: SimulatedResponse, _ http: SimulatedHTTP) -> ResponseForm.Framing {
        guard let length = response.head.contentLength else {
            return http.isOld || draws(http.endsByClose) ? .untilClose : .chunked
        }
        // A false length is one only if it is sent.
        return !http.isOld && length == response.length && draws(http.chunks) ? .chunked : .length
    }

    private mutating func drawAftermath(of form: inout ResponseForm, _ http: SimulatedHTTP) {
        if draws(http.leftovers) {
            form.aftermath = dice.pick([.straysAtOnce, .straysLater])
        } else if draws(http.closesIdle) {
            form.aftermath = dice.pick([.closesAtOnce, .closesLater, .closesLater])
        }
        guard form.aftermath != .keeps else { return }
        form.delay = .milliseconds(Int64(dice.magnitude(2_000)) - 1)
        form.isQuiet = dice.chance(0.5)
    }

    private mutating func note(_ form: ResponseForm) {
        if form.isOld { tally.note("responses of HTTP/1.0") }
        if form.closes { tally.note("connections ended by Connection: close") }
        if !form.interim.isEmpty { tally.note("early hints") }
        if form.isCut { tally.note("responses read in pieces") }
        switch form.framing {
        case .length: break
        case .chunked: tally.note(form.pads ? "chunked bodies with padding" : "chunked bodies")
        case .untilClose: tally.note("bodies ended by the connection")
        }
    }
}

extension SimulatedNetwork {
    func form(of response: SimulatedResponse, host: String) -> ResponseForm {
        state.withLock { $0.form(of: response, host: host) }
    }

    /// Whether a reused connection is lost when a request arrives.
    func losesReused(_ host: String) -> Bool {
        state.withLock { state in
            guard let odds = state.servers[host]?.http.dies, odds > 0 else { return false }
            return state.dice.chance(odds)
        }
    }

    func latency(of host: String) -> Interval { state.withLock { $0.latency(of: host) } }
    func makeDice() -> Dice { state.withLock { Dice(seed: $0.dice.next()) } }
    func note(_ mechanism: String) { state.withLock { $0.tally.note(mechanism) } }
    func violate(_ law: Law, _ text: String) {
        state.withLock { $0.watch.violate(law, text) }
        timeline.note("VIOLATION \(law): \(text)")
    }
}
