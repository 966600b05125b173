import PawlBase
import PawlTestKit
import Testing

/// The manifest of the browser extension, as Chromium and Firefox need it.
@Suite struct ExtensionManifestTests {
    private static let folder = Checkout.root + "/Integrations/browser"
    private let manifest: JSON

    init() throws {
        manifest = try JSON.parse(try #require(FileSystem.contents("\(Self.folder)/manifest.json")))
    }

    /// All texts of a value.
    private static func texts(_ value: JSON?) -> [String] {
        guard let value else { return [] }
        if let text = value.string { return [text] }
        return (value.array ?? value.members?.map(\.value) ?? []).flatMap(texts)
    }

    private static func text(_ name: String) -> String {
        String(decoding: FileSystem.contents("\(folder)/\(name)") ?? [], as: UTF8.self)
    }

    @Test func `it has the keys of both browsers, and versions that know them`() throws {
        #expect(manifest["manifest_version"]?.integer == 3)
        // Chromium runs the worker, Firefox the scripts; both accept the other key from these versions on.
        let background = try #require(manifest["background"])
        #expect(background["service_worker"]?.string.map { [$0] } == background["scripts"]?.array?.compactMap(\.string))
        #expect(background["type"] == "module")
        let gecko = try #require(manifest["browser_specific_settings"]?["gecko"])
        #expect(gecko["id"]?.string?.wholeMatch(of: /\{[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\}/) != nil)
        // optional_host_permissions.
        #expect(try #require(Double(gecko["strict_min_version"]?.string ?? "")) >= 128)
        #expect(try #require(Int(manifest["minimum_chrome_version"]?.string ?? "")) >= 121)
        let collected = Set(Self.texts(gecko["data_collection_permissions"]?["required"]))
        #expect(!collected.isEmpty && collected.isSubset(of: ["browsingActivity", "authenticationInfo"]))
        let version = try #require(manifest["version"]?.string)
        #expect(version.wholeMatch(of: /\d{1,5}(\.\d{1,5}){0,3}/) != nil)
    }

    @Test func `its permissions are known to both browsers, and reach no page`() {
        let permissions = Self.texts(manifest["permissions"]) + Self.texts(manifest["optional_permissions"])
        #expect(Set(permissions) == ["contextMenus", "downloads", "storage", "cookies"])
        let hosts = Self.texts(manifest["host_permissions"]) + Self.texts(manifest["optional_host_permissions"])
        #expect(hosts.allSatisfy { $0.wholeMatch(of: /https?:\/\/[^\/ ]+\/\*/) != nil }, "\(hosts)")
        #expect(manifest["content_scripts"] == nil && manifest["web_accessible_resources"] == nil)
        #expect(
            Self.texts(manifest["content_security_policy"]).allSatisfy {
                $0.hasPrefix("default-src 'none'; script-src 'self';")
            })
    }

    @Test func `every file and text that it names is there`() throws {
        let named =
            Self.texts(manifest["icons"]) + Self.texts(manifest["action"]?["default_icon"])
            + ["default_popup"].flatMap { Self.texts(manifest["action"]?[$0]) }
            + Self.texts(manifest["background"]?["scripts"])
            + Self.texts(manifest["options_ui"]?["page"])
        #expect(named.count > 6)
        var files = Set(named)
        for page in named where page.hasSuffix(".html") {
            files.formUnion(Self.text(page).matches(of: /(?:src|href)="([^"]+)"/).map { String($0.1) })
        }
        for script in FileSystem.names(in: Self.folder) where script.hasSuffix(".js") {
            files.formUnion(Self.text(script).matches(of: /from "\.\/([^"]+)"/).map { String($0.1) })
        }
        for file in files { #expect(FileSystem.contents("\(Self.folder)/\(file)")?.isEmpty == false, "\(file)") }
        let locales = FileSystem.names(in: "\(Self.folder)/_locales")
        #expect(locales.contains(try #require(manifest["default_locale"]?.string)))
        let messages = Self.texts(manifest).compactMap { $0.wholeMatch(of: /__MSG_(\w+)__/).map { String($0.1) } }
        #expect(messages.count == 2)
        for locale in locales {
            let texts = try JSON.parse(Array(Self.text("_locales/\(locale)/messages.json").utf8))
            // Longer descriptions are refused by the stores.
            for name in messages {
                #expect((1...132).contains(texts[name]?["message"]?.string?.count ?? 0), "\(locale): \(name)")
            }
        }
    }
}
