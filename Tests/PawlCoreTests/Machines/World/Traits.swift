import PawlCore

/// What a server is like for its whole life, faults apart.
struct Traits: Hashable {
    enum Validators: CaseIterable {
        case strong
        case strongAndDate
        case weak
        case date
        /// A new strong tag with each answer, and a date.
        case tokens
        case none
    }

    /// What it makes of a request with Range.
    enum Ranges: Hashable {
        case honoured
        /// Sends at most so many bytes of it.
        case capped(Int64)
        /// The same, and the total is a `*`.
        case cappedStar(Int64)
        /// 206 with `/*`.
        case starTotal
        case ignored
        /// 416 without, or with the total.
        case refused(saysTotal: Bool)
        case silent
        case multipart
        case noContentRange
        case malformed
        case shifted
        case overlong
        case coded
        case lengthLies
        case otherTotal
    }

    var validators = Validators.strong
    var ranges = Ranges.honoured
    var saysLength = true
    var acceptRanges = AcceptRanges.bytes
    var connections: Int?
    /// How many hops lead to the content.
    var hops = 0
    /// The target of the redirect stops working after so many requests.
    var targetLife: Int?
    var bytesPerSecond: Double = 4_000_000

    init() {}

    init(dice: inout Dice) {
        validators = dice.pick(Validators.allCases)
        saysLength = !dice.chance(1, in: 6)
        acceptRanges = dice.pick([.bytes, .bytes, .bytes, .unstated, .unstated, .none])
        if dice.chance(1, in: 4) { connections = dice.number(1...4) }
        if dice.chance(1, in: 4) { hops = dice.number(1...2) }
        if hops > 0, dice.chance(1, in: 2) { targetLife = dice.number(1...6) }
        bytesPerSecond = Double(dice.number(300_000...6_000_000))
        ranges = dice.pick([
            .honoured, .honoured, .honoured, .honoured, .honoured, .honoured,
            .capped(Int64(dice.number(200_000...3_000_000))),
            .cappedStar(Int64(dice.number(200_000...3_000_000))),
            .starTotal, .ignored, .refused(saysTotal: false),
            .refused(saysTotal: true), .silent, .multipart, .noContentRange, .malformed, .shifted, .overlong,
            .coded, .lengthLies, .otherTotal,
        ])
    }
}

extension Dice {
    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }
    mutating func chance(_ hits: Int, in throwsCount: Int) -> Bool { number(1...throwsCount) <= hits }
    mutating func pick<Element>(_ choices: [Element]) -> Element { choices[number(0...choices.count - 1)] }
}
