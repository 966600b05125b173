import PawlCore
import Testing

@Suite struct LocalizableMessageTests {
    @Test func `a message knows its form and its values`() {
        let evidence: LocalizableMessage = "it had \(10) bytes and has \(11) now"
        let message: LocalizableMessage = "left out \("http://host/"): \(evidence)"
        #expect(message.description == "left out http://host/: it had 10 bytes and has 11 now")
        #expect(message.form == "left out {}: {}")
        #expect(message.values == [.text("http://host/"), .message(evidence)])
        #expect(evidence.values == [.text("10"), .text("11")])
    }

    @Test func `a failure in it stays one`() {
        let failure = Failure(.notFound, "cannot fetch", at: "http://host/", because: "it answered 404")
        let message: LocalizableMessage = "\(failure)"
        #expect(message.description == "cannot fetch http://host/: it answered 404")
        #expect(message.form == "{}")
        #expect(message.values == [.failure(failure)])
    }

    @Test func `a message without values is its form`() {
        let message: LocalizableMessage = "the bytes differ"
        #expect(message.description == "the bytes differ")
        #expect(message.form == "the bytes differ" && message.values.isEmpty)
    }
}
