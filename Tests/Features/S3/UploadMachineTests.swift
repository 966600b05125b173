import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlCurl
@testable import PawlJournal
@testable import PawlS3
@testable import PawlSystem

@Suite struct `Uploads of objects` {
    private static let sizes = PartSizes(first: PartSizes.single, grows: false)

    @Test(arguments: [0, 1, 8 << 20, (8 << 20) + 1, 5 << 40] as [Int64])
    func `an object fits into the parts that S3 allows`(total: Int64) {
        let sizes = PartSizes(total: total)
        #expect(sizes.first >= 8 << 20 && sizes.first.isMultiple(of: 1 << 20))
        #expect((total + sizes.first - 1) / sizes.first <= Int64(PartSizes.most))
    }

    @Test func `parts of an object of unknown length grow until any object fits`() {
        let sizes = PartSizes(total: nil)
        let all = (1...PartSizes.most).map { sizes.size(of: $0) }
        #expect(all.reduce(0, +) >= 5 << 40 && all.allSatisfy { $0 <= 5 << 30 })
        #expect(zip(all, all.dropFirst()).allSatisfy { $0 <= $1 })
    }

    @Test func `only whole parts without a gap are continued`() {
        let size = Self.sizes.first
        func part(_ number: Int, _ size: Int64) -> S3Part { S3Part(number: number, size: size, entityTag: "") }
        #expect(Self.sizes.usable([part(2, size), part(1, size), part(4, size)]).map(\.number) == [1, 2])
        #expect(Self.sizes.usable([part(1, size - 1), part(2, size)]).isEmpty)
        #expect(Self.sizes.usable([part(2, size)]).isEmpty)
    }

    @Test func `a note is read as it was written`() {
        let facts = JournalFacts(
            sources: ["https://example.org/x"], representation: Representation(total: 5), name: "x")
        let note = UploadNote(upload: "u-1", sizes: Self.sizes, facts: facts)
        #expect(UploadNote(note.bytes) == note)
        #expect(UploadNote(Array(note.bytes.dropLast())) == nil && UploadNote(Array("{\"pawlUpload\":2}".utf8)) == nil)
    }

    @Test(arguments: [false, true]) func `an object of exactly one part is stored in one request`(isContinuable: Bool) {
        let machine = UploadMachine(sizes: Self.sizes, isContinuable: isContinuable)
        #expect(machine.next(buffered: 8 << 20, isAtEnd: false) == nil, "more bytes may follow")
        #expect(machine.next(buffered: 8 << 20, isAtEnd: true) == .put)
        #expect(machine.next(buffered: (8 << 20) + 1, isAtEnd: false) == .begin)
    }

    /// Each state that a machine reaches with `total` bytes, whatever the store responds.
    @Test(arguments: [0, 5, 8 << 20, 20 << 20] as [Int64], [true, false]) func `every reachable state leads to an end`(
        total: Int64, isContinuable: Bool
    ) {
        struct State: Hashable {
            var machine: UploadMachine
            var arrived: Int64
        }
        var seen: Set<State> = []
        let machine = UploadMachine(sizes: Self.sizes, isContinuable: isContinuable)
        var open = [State(machine: machine, arrived: 0)]
        var ends: Set<UploadMachine.Outcome> = []
        while let state = open.popLast() {
            guard seen.insert(state).inserted else { continue }
            let buffered = state.arrived - state.machine.stored
            let isAtEnd = state.arrived == total
            guard let action = state.machine.next(buffered: buffered, isAtEnd: isAtEnd) else {
                #expect(!isAtEnd, "it waits for bytes that never come")
                var next = state
                next.arrived = min(total, state.arrived + (4 << 20))
                open.append(next)
                continue
            }
            let results: [UploadMachine.Result]
            switch action {
            case .put: results = [.done, .exists]
            case .begin: results = [.begun(upload: "u")]
            case .note, .deleteNote:
                #expect(isContinuable, "a note that nobody needs")
                results = [.done]
            case .abort: results = [.done]
            case .part(let number, _):
                let size = min(buffered, state.machine.nextSize)
                results = [.part(S3Part(number: number, size: size, entityTag: "")), .gone]
            case .complete(let parts, _):
                #expect(isAtEnd && parts.reduce(0) { $0 + $1.size } == total, "an object that is not whole")
                results = [.done, .exists, .gone]
            case .compare: results = [.compared(true), .compared(false), .compared(nil)]
            case .end(let outcome):
                ends.insert(outcome)
                if outcome != .stored { #expect(state.machine.upload == nil, "an upload is left") }
                results = []
            }
            for result in results {
                var next = state
                next.machine.ended(action, result)
                open.append(next)
            }
        }
        #expect(ends == [.stored, .already, .differs, .lost])
    }

    // MARK: two workers, and a store that loses responses

    private struct Store {
        var object: (size: Int64, writer: Int)?
        var uploads: [String: [S3Part]] = [:]
        var count = 0
        var published = 0
        var ignoresConditions = false

        mutating func publish(_ size: Int64, _ worker: Int) -> UploadMachine.Result {
            if object != nil, !ignoresConditions { return .exists }
            object = (size, worker)
            published += 1
            return .done
        }

        mutating func perform(_ action: UploadMachine.Action, _ bytes: Int64, _ worker: Int) -> UploadMachine.Result {
            switch action {
            case .put: return publish(bytes, worker)
            case .begin:
                count += 1
                uploads["\(count)"] = []
                return .begun(upload: "\(count)")
            case .part(let number, let upload):
                guard uploads[upload] != nil else { return .gone }
                let part = S3Part(number: number, size: bytes, entityTag: "")
                uploads[upload]?.append(part)
                return .part(part)
            case .complete(let parts, let upload):
                guard uploads[upload] != nil else { return .gone }
                let result = publish(parts.reduce(0) { $0 + $1.size }, worker)
                if result == .done { uploads[upload] = nil }
                return result
            case .compare: return .compared(object.map { $0.size == total })
            case .abort(let upload):
                uploads[upload] = nil
                return .done
            case .note, .deleteNote, .end: return .done
            }
        }

        var total: Int64 = 20 << 20
    }

    /// How often the object was published, in one run of two workers.
    private func run(seed: UInt64, total: Int64, ignoringConditions: Bool) -> Int {
        var dice = Dice(seed: seed)
        var store = Store(ignoresConditions: ignoringConditions, total: total)
        var workers = [UploadMachine(sizes: Self.sizes), UploadMachine(sizes: Self.sizes)]
        var outcomes: [UploadMachine.Outcome?] = [nil, nil]
        while let worker = [0, 1].filter({ outcomes[$0] == nil }).randomElement(using: &dice) {
            let left = total - workers[worker].stored
            guard let action = workers[worker].next(buffered: left, isAtEnd: true) else {
                Issue.record("it waits")
                return 0
            }
            if case .end(let outcome) = action {
                outcomes[worker] = outcome
                continue
            }
            let bytes = action == .put ? total : min(left, workers[worker].nextSize)
            var result = store.perform(action, bytes, worker)
            // The response is lost, and the request made again.
            if Int.random(in: 0..<5, using: &dice) == 0 { result = store.perform(action, bytes, worker) }
            workers[worker].ended(action, result)
        }
        #expect(store.object?.size == total, "seed \(seed): the object is not whole")
        #expect(outcomes.allSatisfy { $0 == .stored || $0 == .already }, "seed \(seed): \(outcomes)")
        return store.published
    }

    @Test(arguments: [5, 20 << 20] as [Int64]) func `an object is published once and whole`(total: Int64) {
        for seed in 0..<500 { #expect(run(seed: UInt64(seed), total: total, ignoringConditions: false) == 1) }
    }

    @Test func `a store that ignores conditions is noticed by that law`() {
        #expect((0..<500).contains { run(seed: UInt64($0), total: 20 << 20, ignoringConditions: true) > 1 })
    }
}
