import Testing

/// Whether the transports of a test leave all of HTTP to libcurl.
enum LibcurlAlone { @TaskLocal static var isOn = false }

/// Runs each test twice: with Pawl's HTTP client where it applies, and with libcurl only.
struct BothWays: TestTrait, SuiteTrait, TestScoping {
    var isRecursive: Bool { true }

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        guard testCase != nil else { return try await function() }
        for isOn in [false, true] { try await LibcurlAlone.$isOn.withValue(isOn) { try await function() } }
    }
}

extension Trait where Self == BothWays { static var bothWays: Self { BothWays() } }
