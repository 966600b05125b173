import Testing

/// Tests that need a browser, two at once: one thread renders a page, and a browser takes as much memory as everything
/// else together.
@Suite(.browserSlots) enum BrowserTests {}

/// Lets a test case begin when one of the browsers may be started.
struct BrowserSlots: TestTrait, SuiteTrait, TestScoping {
    private actor Slots {
        private var free = 2
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func acquire() async {
            guard free == 0 else {
                free -= 1
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func release() { if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() } }
    }

    private static let slots = Slots()

    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        await Self.slots.acquire()
        do { try await function() } catch {
            await Self.slots.release()
            throw error
        }
        await Self.slots.release()
    }
}

extension Trait where Self == BrowserSlots { static var browserSlots: Self { BrowserSlots() } }
