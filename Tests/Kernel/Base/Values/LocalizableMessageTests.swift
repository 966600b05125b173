import PawlBase
import PawlJournal
import Testing

@Suite struct LocalizableMessageTests {
    @Test func `a message has an identifier, a form and its values`() {
        let evidence = LocalizableMessage("size-changed", "it had \(10) bytes and has \(11) now")
        let message = LocalizableMessage("left-out-source", "left out \("http://host/"): \(evidence)")
        #expect(message.description == "left out http://host/: it had 10 bytes and has 11 now")
        #expect(message.id == "left-out-source")
        #expect(message.form == "left out {}: {}")
        #expect(message.values == [.text("http://host/"), .message(evidence)])
        #expect(evidence.values == [.text("10"), .text("11")])
    }

    @Test func `a failure in it stays one`() {
        let failure = Failure(.notFound, "cannot fetch", at: "http://host/", because: .httpStatus(404))
        let message = LocalizableMessage(failure)
        #expect(message.description == "cannot fetch http://host/: the server returned 404 Not Found")
        #expect(message.form == "{}")
        #expect(message.values == [.failure(failure)])
    }

    @Test func `a message without values is its form`() {
        let message = LocalizableMessage("bytes-differ", "the bytes differ")
        #expect(message.description == "the bytes differ")
        #expect(message.form == "the bytes differ" && message.values.isEmpty)
    }

    @Test func `the cause of a failure is a message until it is replaced`() {
        var failure = Failure(.notFound, "cannot fetch", at: "http://host/", because: .httpStatus(404))
        #expect(failure.why == "the server returned 404 Not Found")
        #expect(failure.cause == .httpStatus(404))
        failure.why = "another"
        #expect(failure.cause == nil)
    }

    @Test func `a failure in parts is read as it was stored`() throws {
        let evidence = LocalizableMessage("size-changed", "it had \(10) bytes and has \(11) now")
        let inner = Failure(.network, "cannot fetch", at: "http://b/", because: .httpStatus(503), remedy: "wait")
        let cause = LocalizableMessage("left-out-source", "left out \("a{}b"): \(evidence), \(inner)")
        let failures = [
            Failure(.cannotResume, "cannot resume", at: "http://a/", because: cause, remedy: "start over"),
            Failure(.diskFull, "cannot write", at: "/a\nb", because: "no space left on device"),
        ]
        for failure in failures {
            let read = try #require(Failure(stored: try JSON.parse(failure.stored.text)))
            #expect(read == failure)
        }
    }

    @Test(arguments: [
        "7", "{}", #"{"code": 300, "what": "a", "place": "b", "why": "c"}"#, #"{"code": 3, "what": "a", "place": "b"}"#,
    ]) func `what is not a stored failure is none`(text: String) throws {
        #expect(Failure(stored: try JSON.parse(text)) == nil)
    }

    @Test(arguments: [
        #"{"id": "x"}"#, #"{"id": "x", "form": "another cause"}"#,
        #"{"id": "x", "form": "c{}", "values": [{"failure": 1}]}"#,
    ]) func `an unreadable cause leaves its sentence`(cause: String) throws {
        let text = #"{"code": 3, "what": "a", "place": "b", "why": "c", "cause": \#(cause)}"#
        let failure = try #require(Failure(stored: try JSON.parse(text)))
        #expect(failure.why == "c" && failure.cause == nil)
    }
}
