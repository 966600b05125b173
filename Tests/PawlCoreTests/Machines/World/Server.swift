import PawlCore

/// What one request gets.
struct Reply {
    enum Opening {
        case never
        case fails(TransferFault.Kind)
        case head(ResponseHead)
    }

    var opening: Opening
    var delay = Span.milliseconds(50)
    var content = Content(length: 0, epoch: -1)
    /// The body, in the resource's offsets; `nil` for a body of no worth.
    var body: ByteRange?
    /// The line breaks after so many bytes of the body.
    var breaksAfter: Int64?
    /// Instead of breaking it falls silent.
    var stalls = false
    var bytesPerSecond: Double = 1
}

/// An origin in memory: versions of one content, traits, and a number of faults it still has to make.
struct Server {
    var traits: Traits
    var content: Content
    var faults: Int
    /// The content changes at these requests, counted from 1.
    var changes: [Int]
    /// Faults that the machine may take for final: wrong pages, 404.
    var isCruel = false
    private(set) var requests = 0
    private(set) var versions: [Content]
    private var tokenUses: [String: Int] = [:]
    private var dice: Dice

    init(traits: Traits, content: Content, faults: Int, changes: [Int], seed: UInt64) {
        self.traits = traits
        self.content = content
        self.faults = faults
        self.changes = changes
        versions = [content]
        dice = Dice(seed: seed)
    }

    mutating func reply(to order: LaneOrder, open: Int) -> Reply {
        requests += 1
        if changes.contains(requests) { change() }
        if let most = traits.connections, open > most { return turnAway() }
        if let hop = redirect(order.address) { return hop }
        var reply = answer(order.asked)
        reply.delay = .milliseconds(Int64(dice.number(10...400)))
        reply.bytesPerSecond = traits.bytesPerSecond * Double(dice.number(50...150)) / 100
        if faults > 0, dice.chance(1, in: 2) {
            faults -= 1
            spoil(&reply)
        }
        return reply
    }

    /// The next version: grown, shrunk or of equal length; the old bytes stay in front when it grew.
    private mutating func change() {
        let epoch = content.epoch + 1
        switch dice.number(0...2) {
        case 0:
            content = Content(length: content.length, epoch: epoch)
        case 1 where traits.validators != .none:
            let before = content
            content = Content(length: before.length + 100_000, epoch: epoch)
            if before.sharedPrefix == 0 {
                content.sharedPrefix = before.length
                content.prefixEpoch = before.epoch
            }
        default:
            content = Content(length: content.length / 2 + 1, epoch: epoch)
        }
        versions.append(content)
    }

    private mutating func turnAway() -> Reply {
        switch dice.number(0...2) {
        case 0: Reply(opening: .fails(.connectionRefused))
        case 1: Reply(opening: .head(ResponseHead(status: 503)))
        default: Reply(opening: .head(ResponseHead(status: 429)))
        }
    }

    /// `/file` leads over hops to `/target`, whose token wears out.
    private mutating func redirect(_ address: WebAddress) -> Reply? {
        guard traits.hops > 0 else { return nil }
        if address.path == "/target", let token = address.query {
            tokenUses[token, default: 0] += 1
            guard let life = traits.targetLife, tokenUses[token, default: 0] > life else { return nil }
            return Reply(opening: .head(ResponseHead(status: 403)))
        }
        var head = ResponseHead(status: 302)
        let isLast = traits.hops == 1 || address.path == "/hop"
        head.location = isLast ? "/target?token=\(requests)" : "/hop"
        return Reply(opening: .head(head))
    }

    private mutating func spoil(_ reply: inout Reply) {
        let length = reply.body?.count ?? 0
        switch dice.number(0...(isCruel ? 9 : 7)) {
        case 0: reply = Reply(opening: .never)
        case 1:
            reply = Reply(opening: .fails(dice.pick([.connectionLost, .connectTimeout, .nameResolution])))
        case 2: reply = Reply(opening: .head(ResponseHead(status: dice.pick([500, 502, 503, 429, 408]))))
        case 3, 4: reply.breaksAfter = Int64.random(in: 0...length, using: &dice)
        case 5, 6:
            reply.breaksAfter = Int64.random(in: 0...length, using: &dice)
            reply.stalls = true
        case 7: reply.bytesPerSecond /= 20
        case 8: reply = Reply(opening: .head(ResponseHead(status: dice.pick([404, 401, 403, 410]))))
        default:
            var page = ResponseHead(status: 200)
            page.contentType = "text/html; charset=utf-8"
            page.contentLength = 1000
            // Nothing tells a page from the content while the content is not known.
            let content = Content(length: 1000, epoch: -1)
            versions.append(content)
            reply = Reply(opening: .head(page), content: content, body: ByteRange(0, 1000))
            reply.bytesPerSecond = 1e6
        }
    }
}
