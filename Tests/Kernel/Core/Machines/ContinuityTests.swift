import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal

@Suite struct ContinuityTests {
    private let tag = Validators(entityTag: EntityTag(opaque: "1", isWeak: false))

    private var known: Representation {
        var known = Representation(total: 10, mediaType: "text/html")
        known.prove("http://a/f", at: "a", tag)
        return known
    }

    @Test func `what was known of discarded bytes is remembered until a response describes others`() {
        var continuity = Continuity(base: 0)
        continuity.reset(base: 0)
        #expect(continuity.representation == nil && continuity.former == nil)
        continuity.describe(known)
        #expect(continuity.representation == known && continuity.former == nil)
        continuity.reset(base: nil)
        #expect(continuity.representation == nil && continuity.former == known.former && continuity.base == nil)
        continuity.reset(base: 0)
        #expect(continuity.former == known.former)
        continuity.describe(known)
        #expect(continuity.former == nil)
        continuity.reset(base: 0)
        continuity.begin(base: 0)
        #expect(continuity.former == nil)
    }

    @Test func `a page is remembered beside what was known before it`() {
        let page = SuspectPage(total: 5, mediaType: "text/html")
        var continuity = Continuity(base: 0)
        continuity.noteFormer(page)
        #expect(continuity.former == nil)
        continuity.describe(known)
        continuity.reset(base: 0)
        continuity.noteFormer(page)
        #expect(continuity.former?.suspect == page)
    }

    @Test func `bytes of another range stay stale, whatever is learnt of them`() {
        var continuity = Continuity(base: 0)
        continuity.representation?.learn(total: 3)
        continuity.foundStale()
        #expect(continuity.representation == nil && !continuity.isStale)
        continuity.describe(known)
        continuity.foundStale()
        continuity.representation?.coding = "gzip"
        #expect(continuity.isStale && continuity.representation?.coding == "gzip")
        continuity.reset(base: 0)
        #expect(!continuity.isStale)
    }

    @Test func `samples are compared until none is left`() {
        var continuity = Continuity(base: 0)
        continuity.sample([ByteRange(0, 10), ByteRange(20, 30)])
        #expect(continuity.isComparing)
        continuity.sampled(ByteRange(0, 15))
        #expect(continuity.samples == [ByteRange(20, 30)])
        continuity.divide(by: 6, for: 0)
        #expect(continuity.samples == [ByteRange(20, 26), ByteRange(26, 30)])
        continuity.compareNothing()
        #expect(!continuity.isComparing)
    }

    @Test func `open joints are sampled at the end, within the file`() {
        let overlap = DownloadMachine.overlap
        var continuity = Continuity(base: 0)
        continuity.join(at: [5])
        continuity.openJoint(at: 3 * overlap)
        continuity.sampleOpenJoints(horizon: 3 * overlap + 1)
        #expect(continuity.samples == [ByteRange(0, 5 + overlap), ByteRange(2 * overlap, 3 * overlap + 1)])
        #expect(continuity.openJoints.isEmpty)
    }

    @Test func `only the source's other places are divided`() {
        var continuity = Continuity(base: 0)
        continuity.elsewhere = ComparedElsewhere(source: 1, left: [ByteRange(0, 4)])
        continuity.divide(by: 3, for: 0)
        #expect(continuity.elsewhere?.left == [ByteRange(0, 4)] && continuity.isComparing)
        continuity.divide(by: 3, for: 1)
        #expect(continuity.elsewhere?.left == [ByteRange(0, 3), ByteRange(3, 4)])
    }

    @Test func `parts that were compared ahead grow to the front, of one source`() {
        var continuity = Continuity(base: 0)
        continuity.comparedAhead(ByteRange(20, 30), of: 0)
        continuity.comparedAhead(ByteRange(10, 20), of: 0)
        #expect(continuity.start(aheadOf: 30, of: 0) == 10)
        #expect(continuity.start(aheadOf: 30, of: 1) == nil && continuity.start(aheadOf: 20, of: 0) == nil)
        continuity.comparedAhead(ByteRange(0, 10), of: 1)
        #expect(continuity.start(aheadOf: 10, of: 1) == 0)
        continuity.forgetAhead()
        #expect(continuity.start(aheadOf: 10, of: 1) == nil)
    }

    @Test func `an end is that of one source`() {
        var continuity = Continuity(base: 0)
        continuity.ended(at: 7, of: 1)
        #expect(continuity.isEnd(7, of: 1) && !continuity.isEnd(7, of: 0) && !continuity.isEnd(8, of: 1))
    }

    @Test func `a question about a tag ends with its source's address`() {
        let question = TagQuestion(source: 1, host: "b", tag: tag.entityTag)
        var continuity = Continuity(base: 0)
        continuity.ask(question)
        continuity.replaced(0)
        #expect(continuity.question == question)
        continuity.replaced(1)
        #expect(continuity.question == nil)
        continuity.ask(question)
        continuity.answered()
        #expect(continuity.question == nil)
    }
}
