import PawlBase
import Testing

/// What a download that waits says of what it lacks.
@Suite struct AwaitedResourceTests {
    private static let all: [(AwaitedResource, String)] = [
        (.space(), "waits-for-space"), (.space(needed: 5), "waits-for-space"), (.files, "waits-for-files"),
        (.quota, "waits-for-quota"), (.writing, "waits-for-writing"), (.folder, "waits-for-folder"),
    ]

    @Test(arguments: all) func `a wait names its cause, says that it ends by itself, and no command that is needed`(
        awaited: AwaitedResource, id: String
    ) {
        var failure = Failure(
            .diskFull, "cannot write", at: "/a/f.part", because: LocalizableMessage("no-inodes", "none is left"),
            remedy: "free some space, then \(.resume): received bytes are kept")
        #expect(failure.waiting == failure)
        failure.awaited = awaited
        let waiting = failure.waiting
        #expect(waiting.cause?.id == id && waiting.awaited == awaited && waiting.code == .diskFull)
        #expect(waiting.description.hasPrefix("cannot write /a/f.part: none is left; continues by itself when"))
        if awaited != .folder { #expect(!waiting.description.contains("resume")) }
        #expect(waiting.waiting.cause?.id == id)
    }
}
