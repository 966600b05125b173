import PawlBase
import Testing

@Suite struct JSONValueTests {
    @Test(arguments: [
        "null", "true", "false", "0", "-0", "12", "-3.25e+7", #""""#, #""a\"b\\c\nd""#, "[]", "[1,[2,[]]]", "{}",
        #"{"a":1,"b":{"c":[null]},"a":2}"#, #""ü𝄞""#,
    ]) func `a value that was read is written back unchanged`(_ text: String) throws {
        let value = try JSON.parse(text)
        #expect(value.text == text)
        #expect(try JSON.parse(value.utf8) == value)
    }

    @Test func `white space and escapes are parsed`() throws {
        #expect(try JSON.parse(" { \"a\" : [ 1 , 2 ] }\r\n\t").text == #"{"a":[1,2]}"#)
        #expect(try JSON.parse(#""\u0041\ud834\udd1e\/\b""#) == .string("A𝄞/\u{8}"))
    }

    @Test(arguments: [#"\ud834x\udd1e"#, #"\ud834\u0041"#, #"\udd1e"#, #"\ud834"#, #"\udd1e\ud834"#])
    func `half of a surrogate pair is refused, in values and in names of members`(_ half: String) throws {
        for text in ["[\"\(half)\"]", "{\"\(half)\":1}"] {
            let error = try #require(throws: JSON.ParsingError.self) { try JSON.parse(text) }
            #expect(error.repaired?.text.contains("\u{FFFD}") == true)
        }
        #expect(try #require(throws: JSON.ParsingError.self) { try JSON.parse("[\"\(half)\",]") }.repaired == nil)
    }

    @Test(arguments: [
        "", " ", "{", "[", "[1,]", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#, "{a:1}", "01", "1.", ".5", "-", "1e",
        "+1", "nul", "truee", #"""#, #""\x""#, #""\u12""#, #""\u+123""#, "\"\n\"", "1 2", "[1 2]", "NaN",
    ]) func `invalid JSON is refused`(_ text: String) {
        #expect(throws: JSON.ParsingError.self) { try JSON.parse(text) }
    }

    @Test func `invalid UTF-8 is refused`() {
        #expect(throws: JSON.ParsingError.self) { try JSON.parse([0x22, 0xFF, 0x22]) }
    }

    @Test func `deep nesting is refused before the stack overflows`() {
        let deep = String(repeating: "[", count: 1_000_000)
        #expect(throws: JSON.ParsingError.self) { try JSON.parse(deep) }
        let allowed = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        #expect(throws: Never.self) { try JSON.parse(allowed) }
    }

    @Test func `written text cannot end a script or a line`() {
        let text = JSON.string("</script>\u{2028}\u{1B}[0m\n").text
        #expect(text == #""\u003c/script>\u2028\u001b[0m\n""#)
    }

    @Test func `of duplicate members the last one counts`() throws {
        let value = try JSON.parse(#"{"a":1,"a":"x","n":7,"f":1.5,"t":true,"l":[]}"#)
        #expect(value["a"]?.string == "x")
        #expect(value["n"]?.integer == 7)
        #expect(value["f"]?.integer == nil)
        #expect(value["t"]?.bool == true)
        #expect(value["l"]?.array == [])
        #expect(value["none"] == nil)
        #expect(value["a"]?.members == nil)
    }
}
