/// A queue whose members are served a few at a time, so that other work comes in between.
struct TurnQueue<Member> {
    /// How many are served at a time.
    static var most: Int { 8 }

    private var members: [Member] = []
    private var front = 0

    var isEmpty: Bool { front == members.count }

    mutating func append(_ member: Member) { members.append(member) }

    /// Removes and returns those whose turn it is.
    mutating func next() -> [Member] {
        let turn = Array(members[front...].prefix(Self.most))
        front += turn.count
        if isEmpty {
            members.removeAll(keepingCapacity: true)
            front = 0
        } else if front > members.count / 2 {
            members.removeFirst(front)
            front = 0
        }
        return turn
    }
}
