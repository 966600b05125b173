import Testing

@testable import PawlBase
@testable import PawlJournal

@Suite struct CopyOnWriteTests {
    @Test("a changed copy leaves the other as it was") func copies() {
        let first = CopyOnWrite([1, 2])
        var second = first
        second.value.append(3)
        #expect(first.value == [1, 2])
        #expect(second.value == [1, 2, 3])
    }

    @Test("values are compared and hashed, not references") func equality() {
        let first = CopyOnWrite("a")
        var second = CopyOnWrite("b")
        #expect(first != second)
        second.value = "a"
        #expect(first == second)
        #expect(Set([first, second]).count == 1)
    }

    @Test("a description of content that is changed leaves the stored one as it was") func representations() {
        let stored = Representation(total: 10)
        var other = stored
        other.total = 20
        other.openJoints.append(5)
        other.prove("http://a/f", at: "a", Validators(entityTag: EntityTag(opaque: "1", isWeak: false)))
        #expect(stored == Representation(total: 10))
        #expect(other.total == 20 && other.openJoints == [5] && other.records.count == 1)
    }
}
