import Pawl
import PawlBase
import PawlSystem
import PawlTestKit
import Testing

/// The service's messages are shown in Chinese to readers of Chinese.
@Suite struct PageWordsTests {
    private static let sources = Checkout.root + "/Sources"

    private static let languages = ["de", "es", "fr", "ja", "pt", "zh"]

    @Test(arguments: languages) func `every message has one identifier and a translation`(language: String) throws {
        // Written as `LocalizableMessage("id", "…")`, `.init("id", "…")` or `AddressFlaw("id", "…")`.
        let written = Self.swiftFiles(in: "").flatMap { path in
            let pattern = #/(?:LocalizableMessage|AddressFlaw|init)\(\s*"([a-z0-9-]+)",\s*"/#
            return Self.text(path).matches(of: pattern).map { String($0.1) }
        }
        #expect(written.contains("range-ignored") && written.contains("s3-no-bucket"))
        #expect(written.sorted() == Self.messages(in: language).map(\.name).sorted())
    }

    /// As in Chinese, which leaves out what its sentences do not need.
    @Test(arguments: languages) func `every translation of a message has the same values`(language: String) {
        let chinese = Dictionary(uniqueKeysWithValues: Self.messages(in: "zh"))
        func values(_ text: String) -> Set<Substring> { Set(text.matches(of: /\{\d\}/).map(\.0)) }
        for (name, text) in Self.messages(in: language) {
            #expect(values(text) == values(chinese[name] ?? ""), "\(name)")
        }
    }

    @Test func `every code that has a failure in one language has one in all`() {
        func codes(_ language: String) -> [String] {
            let text = Self.text("Service/Server/Page/Assets/messages.\(language).js")
            let table = text.split(separator: "const failures = {").last ?? ""
            return table.matches(of: /(\d+): "/).map { String($0.1) }.sorted()
        }
        for language in Self.languages {
            #expect(codes(language) == codes("zh") && codes("zh").count > 20, "\(language)")
        }
    }

    private static func messages(in language: String) -> [(name: String, text: String)] {
        text("Service/Server/Page/Assets/messages.\(language).js").matches(of: #/\n  "([a-z0-9-]+)": (".*")/#).map {
            (String($0.1), String($0.2))
        }
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

    @Test(arguments: ["en"] + languages)
    func `the page has words for everything that a download may wait for on its disk`(
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
        for language in ["en"] + Self.languages {
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
