import PawlTestKit
import Testing

/// Runs test cases on threads of their own: they wait for programs most of the time.
struct OwnThreadsTrait: TestTrait, SuiteTrait, TestScoping {
    private static let threads = OwnThreads()

    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(Self.threads) { try await function() }
    }
}

extension Trait where Self == OwnThreadsTrait { static var ownThreads: Self { OwnThreadsTrait() } }
