import Testing

@testable import PawlWeb

@Suite struct SecretScanTests {
    @Test(arguments: [
        (#"{"params":["token:s"]}"#, ["s"]), ("<value><string>token:a&amp;b</string></value>", ["a&b"]),
        (#"["token:a\"b","token:\u0063","ttoken:d"]"#, ["a\"b", "c", "d"]), (#"["token:unfinished"#, []), ("[]", []),
        (#"["token:a<b"]"#, ["a<b", "a"]), (#"<s>token:a"b</s>"#, ["a", #"a"b"#]), (#"<s>token:a\</s>"#, [#"a\"#]),
        (#"<s>token:a"</s><s x="y"/>"#, ["a", #"a""#]),
    ]) func `the texts after the marks are found`(_ message: String, _ texts: [String]) {
        #expect(SecretScan.candidates(in: Array(message.utf8)) == texts)
    }

    /// Each mark costs as much whether a text follows or not, and the server's thread examines messages of any client.
    @Test func `only the first marks are examined, even if no text follows them`() {
        let invalid = #""token:\q","#
        let valid = #""token:s""#
        for count in 0..<10 {
            let message = String(repeating: invalid, count: count) + valid
            #expect(SecretScan.candidates(in: Array(message.utf8)) == (count < 4 ? ["s"] : []))
        }
    }
}
