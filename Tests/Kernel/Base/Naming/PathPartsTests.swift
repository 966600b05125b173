import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlJournal
@testable import PawlPipe
@testable import PawlSystem

@Suite struct PathPartsTests {
    @Test(arguments: ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20DD}", "\u{E0100}"])
    func `a slash before a combining mark separates, as for the kernel`(mark: String) {
        #expect("../\(mark)x".pathParts() == ["..", Substring(mark + "x")])
        #expect("a/\(mark)".hasSlash)
        #expect(SampleName.flaw(ofPath: "../\(mark)x") != nil)
        #expect(ProxyURL.login(of: "u:p@\(mark)h") == "u:p")
        #expect(ProxyURL.isSecure("HTTPS://\(mark)h"))
        #expect(ProxyURL.login(of: "http://\(mark)u:p@h")?.hasSuffix("u:p") == true)
    }

    @Test func `empty components are kept on request`() {
        #expect("/a//b/".pathParts() == ["a", "b"])
        #expect("/a//b/".pathParts(keepsEmpty: true) == ["", "a", "", "b", ""])
        #expect("".pathParts().isEmpty && "".pathParts(keepsEmpty: true) == [""])
    }
}
