import Pawl
import PawlTestKit
import Testing

/// The service's messages are shown in Chinese to readers of Chinese.
@Suite struct PageWordsTests {
    private static let sources = FileSystem.folder(of: #filePath) + "/../../Sources"

    @Test func `every message has one identifier and a translation in Chinese`() throws {
        // Written as `LocalizableMessage("id", "…")` or `.init("id", "…")`.
        let folders = [
            "PawlCore/Integrity", "PawlCore/Machines", "PawlCore/Resume", "PawlCore/Values",
            "PawlEngine/Shell",
            "Pawl", "Pawl/Manager", "PawlSession",
        ]
        let written = folders.flatMap { folder in
            FileSystem.names(in: "\(Self.sources)/\(folder)").filter { $0.hasSuffix(".swift") }
                .flatMap { name in
                    let pattern = #/(?:LocalizableMessage|init)\(\s*"([a-z0-9-]+)",\s*"/#
                    return Self.text("\(folder)/\(name)").matches(of: pattern).map { String($0.1) }
                }
        }
        #expect(written.contains("range-ignored") && written.contains("http-status"))
        let translated = Self.text("PawlServer/Page/Assets/messages.zh.js").matches(
            of: #/\n  "([a-z0-9-]+)": "/#
        )
        .map { String($0.1) }
        #expect(written.sorted() == translated.sorted())
    }

    @Test func `the page sets options that a download has`() {
        let page = Self.text("PawlServer/Page/Assets/form.js")
        let names = page.matches(of: /\bput\("([^"]+)"|options\["([^"]+)"\]|options\.(\w+) =/)
            .compactMap { ($0.1 ?? $0.2 ?? $0.3).map(String.init) }
        #expect(names.count > 7)
        for name in names { #expect(DownloadOption.named[name] != nil, "\(name)") }
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileSystem.contents("\(sources)/\(path)") ?? [], as: UTF8.self)
    }
}
