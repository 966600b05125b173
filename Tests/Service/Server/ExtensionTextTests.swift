import PawlBase
import PawlTestKit
import Testing

/// The browser's extension: its permissions, and its texts in every language.
@Suite struct ExtensionTextTests {
    private static let folder = Checkout.root + "/Integrations/browser"

    private static func json(_ path: String) throws -> JSON {
        try JSON.parse(FileSystem.contents("\(folder)/\(path)") ?? [])
    }

    private static func texts(_ names: [JSON.Member]) -> [String: Set<Substring>] {
        names.reduce(into: [:]) { texts, entry in
            let text = entry.value["message"]?.string ?? ""
            texts[entry.name] = Set(text.matches(of: /\$\w+\$/).map(\.0))
        }
    }

    @Test func `it has the permissions that it needs, and no more`() throws {
        let manifest = try Self.json("manifest.json")
        #expect(manifest["permissions"] == ["contextMenus", "downloads", "storage"])
        // Asked for when they are needed: cookies of a site, a service elsewhere.
        #expect(manifest["optional_permissions"] == ["cookies"])
        #expect(manifest["host_permissions"] == ["http://127.0.0.1/*", "http://localhost/*"])
        #expect(manifest["content_scripts"] == nil && manifest["incognito"] == "not_allowed")
        #expect(manifest["content_security_policy"]?["extension_pages"]?.string?.contains("script-src 'self';") == true)
    }

    @Test func `every language has every text with the same values, and every text is used`() throws {
        let languages = FileSystem.names(in: Self.folder + "/_locales").sorted()
        #expect(languages == ["de", "en", "es", "fr", "ja", "pt_BR", "zh_CN"])
        let english = Self.texts(try Self.json("_locales/en/messages.json").members ?? [])
        for language in languages {
            let texts = Self.texts(try Self.json("_locales/\(language)/messages.json").members ?? [])
            #expect(texts == english, "\(language)")
        }
        let code = FileSystem.names(in: Self.folder).filter {
            $0.hasSuffix(".js") || $0.hasSuffix(".html") || $0.hasSuffix(".json")
        }
        .map { String(decoding: FileSystem.contents("\(Self.folder)/\($0)") ?? [], as: UTF8.self) }.joined()
        for name in english.keys.sorted() {
            #expect(code.contains("\"\(name)\"") || code.contains("__MSG_\(name)__"), "\(name) is not used")
        }
        for name in code.matches(of: /(?:data-text=|getMessage\(|\btext\()"(\w+)"/).map({ String($0.1) }) {
            #expect(english[name] != nil, "\(name) is missing")
        }
    }
}
