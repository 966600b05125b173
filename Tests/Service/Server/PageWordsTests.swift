import Pawl
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// The service's messages are shown in Chinese to readers of Chinese.
@Suite struct PageWordsTests {
    private static let sources = Checkout.root + "/Sources"

    @Test func `every message has one identifier and a translation in Chinese`() throws {
        // Written as `LocalizableMessage("id", "…")`, `.init("id", "…")` or `AddressFlaw("id", "…")`.
        let written = Self.swiftFiles(in: "").flatMap { path in
            let pattern = #/(?:LocalizableMessage|AddressFlaw|init)\(\s*"([a-z0-9-]+)",\s*"/#
            return Self.text(path).matches(of: pattern).map { String($0.1) }
        }
        #expect(written.contains("range-ignored") && written.contains("s3-no-bucket"))
        let translated = Self.text("Service/Server/Page/Assets/messages.zh.js").matches(of: #/\n  "([a-z0-9-]+)": "/#)
            .map {
                String($0.1)
            }
        #expect(written.sorted() == translated.sorted())
    }

    @Test(arguments: [
        "Kernel/Core/Machines", "Kernel/Journal/Resume", "Kernel/Base/Protocol", "Kernel/Disk/Claiming",
        "Kernel/Disk/Partial",
        "Kernel/Disk/System", "Library/Pawl/Options",
    ]) func `every cause of a failure of a download is a message`(folder: String) {
        let files = Self.swiftFiles(in: folder)
        #expect(!files.isEmpty)
        for path in files {
            #expect(Self.text(path).firstMatch(of: #/because: "/#) == nil, "\(path)")
            #expect(Self.text(path).firstMatch(of: #/SystemError.*\.text\b.*because|because:.*\.text\b/#) == nil)
        }
    }

    @Test(arguments: ["en", "zh"]) func `the page has words for everything that a download may wait for on its disk`(
        language: String
    ) {
        let words = Self.text("Service/Server/Page/Assets/words.\(language).js")
        for table in ["waitRemedies", "diskWaits"] {
            let parts = words.split(separator: "const \(table) = {")
            let entries = parts.count == 2 ? parts[1].prefix { $0 != "}" } : ""
            for awaited in ["space", "files", "quota", "writing", "folder"] {
                #expect(entries.contains("\(awaited): "), "\(awaited) in \(table)")
            }
        }
    }

    @Test func `the page sets options that a download has`() {
        let page = Self.text("Service/Server/Page/Assets/form.js")
        let names = page.matches(of: /\bput\("([^"]+)"|options\["([^"]+)"\]|options\.(\w+) =/).compactMap {
            ($0.1 ?? $0.2 ?? $0.3).map(String.init)
        }
        #expect(names.count > 7)
        for name in names { #expect(DownloadOption.named[name] != nil, "\(name)") }
    }

    @Test func `the hint of the checksum names every type`() {
        for language in ["en", "zh"] {
            let hint = Self.text("Service/Server/Page/Assets/words.\(language).js").split(separator: "\n").first {
                $0.contains("checksumHint")
            }
            for algorithm in HashAlgorithm.allCases {
                #expect(hint?.contains(algorithm.rawValue) == true, "\(algorithm) in \(language)")
            }
        }
    }

    /// All of them, in all folders: a message of any module can reach the page.
    private static func swiftFiles(in folder: String) -> [String] {
        FileSystem.names(in: "\(sources)/\(folder)").flatMap { name in
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            return name.hasSuffix(".swift") ? [path] : name.contains(".") ? [] : swiftFiles(in: path)
        }
    }

    private static func text(_ path: String) -> String {
        String(decoding: FileSystem.contents("\(sources)/\(path)") ?? [], as: UTF8.self)
    }
}
