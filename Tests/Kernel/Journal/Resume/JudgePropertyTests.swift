import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlJournal
@testable import PawlSystem

@Suite struct JudgePropertyTests {
    private static func offset(_ dice: inout Dice) -> Int64 { Int64(dice.number(0...12)) }

    private static func range(_ dice: inout Dice) -> ByteRange {
        let start = offset(&dice)
        return ByteRange(start, start + Int64(dice.number(1...6)))
    }

    private static func requested(_ dice: inout Dice) -> RequestedRange {
        dice.pick([.whole, .from(offset(&dice)), .closed(range(&dice)), .suffix(offset(&dice) + 1)])
    }

    private static func head(_ dice: inout Dice) -> ResponseHead {
        var head = ResponseHead(status: dice.pick([200, 206, 206, 206, 206, 416, 404, 302]))
        head.contentRange = dice.pick([
            .absent, .malformed("x"), .unsatisfied(total: offset(&dice)), .range(range(&dice), total: nil),
            .range(range(&dice), total: 12), .range(range(&dice), total: offset(&dice)),
        ])
        if dice.chance(1, in: 2) { head.contentLength = offset(&dice) }
        if dice.chance(1, in: 10) { head.contentEncoding = "br" }
        if dice.chance(1, in: 10) { head.contentType = dice.pick(["text/html", "multipart/byteranges; boundary=x"]) }
        head.entityTag = dice.pick([nil, EntityTag(opaque: "a", isWeak: false), EntityTag(opaque: "b", isWeak: true)])
        return head
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `G1 a body is accepted at an offset only if its head claims that start`(seed: UInt64) {
        var dice = Dice(seed: seed)
        var usable = 0
        for _ in 0..<4000 {
            let requested = Self.requested(&dice)
            let head = Self.head(&dice)
            let known = dice.pick([nil, Representation(total: 12), Representation()])
            let tag = Validators(entityTag: EntityTag(opaque: "a", isWeak: false))
            let judge = Judge(
                requested: requested, known: known,
                record: dice.pick([nil, ValidatorRecord(source: "a", host: "a", validators: tag)]),
                have: dice.pick([nil, Self.offset(&dice)]))
            guard case .usable(let body) = judge.verdict(on: head, wallTime: UnixTime(seconds: 0)) else { continue }
            usable += 1
            switch (requested, head.status) {
            case (.from(let start), _): #expect(body.range.start == start)
            case (.closed(let range), 206): #expect(body.range.start == range.start && body.range.end <= range.end)
            case (.closed(let range), _): #expect(body.range.start == range.start)
            case (.suffix(let count), _): #expect(body.range.count <= count)
            case (.whole, _): #expect(body.range.start == 0)
            }
            guard head.status == 206 else {
                #expect(head.status == 200 && body.range.start == 0)
                continue
            }
            guard case .range(let said, let total) = head.contentRange else {
                Issue.record("a part without Content-Range was accepted")
                continue
            }
            #expect(said == body.range && head.contentEncoding == nil && !head.isMultipart)
            #expect(head.contentLength ?? said.count == said.count)
            #expect(known?.total == nil || total == nil || total == known?.total)
        }
        #expect(usable > 30)
    }
}
