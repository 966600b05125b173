import PawlCore
import Testing

@Suite struct WordingTests {
    @Test func `a sentence knows its form and what stands in it`() {
        let evidence: Wording = "it had \(10) bytes and has \(11) now"
        let wording: Wording = "left out \("http://host/"): \(evidence)"
        #expect(wording.description == "left out http://host/: it had 10 bytes and has 11 now")
        #expect(wording.form == "left out {}: {}")
        #expect(wording.values == [.text("http://host/"), .wording(evidence)])
        #expect(evidence.values == [.text("10"), .text("11")])
    }

    @Test func `a failure in it stays one`() {
        let failure = Failure(.notFound, "cannot fetch", at: "http://host/", because: "it answered 404")
        let wording: Wording = "\(failure)"
        #expect(wording.description == "cannot fetch http://host/: it answered 404")
        #expect(wording.form == "{}")
        #expect(wording.values == [.failure(failure)])
    }

    @Test func `a sentence with nothing in it is its form`() {
        let wording: Wording = "the bytes differ"
        #expect(wording.description == "the bytes differ")
        #expect(wording.form == "the bytes differ" && wording.values.isEmpty)
    }
}
