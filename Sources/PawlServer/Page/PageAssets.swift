import PawlCore

/// The page's files, which are embedded in the program.
struct PageAssets: Sendable {
    struct Asset: Sendable {
        let type: String
        let bytes: [UInt8]
        let tag: String

        init(_ type: String, _ bytes: [UInt8]) {
            self.type = type
            self.bytes = bytes
            tag = "\"\(PageAssets.digest(bytes))\""
        }
    }

    private let assets: [String: Asset]

    init() {
        assets = PageAssets.files.reduce(into: [:]) { assets, file in
            let type = PageAssets.types[file.name.split(separator: ".").last ?? ""] ?? "text/plain"
            assets[file.name == "index.html" ? "/" : "/" + file.name] = Asset(type, file.bytes)
        }
    }

    subscript(path: String) -> Asset? { assets[path] }

    /// The response for an asset; 304 if the browser has it already.
    func response(_ asset: Asset, known tag: String?) -> WebResponse {
        var response =
            tag == asset.tag
            ? WebResponse(304) : WebResponse(200, contentType: asset.type, body: .bytes(asset.bytes))
        response.fields =
            [("etag", asset.tag), ("cache-control", "no-cache"), ("content-security-policy", Self.policy)]
            + PageFields.guards
        return response
    }

    /// Only this server's own files; no inline scripts or styles, and text is never parsed as HTML.
    private static let policy = """
        default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; media-src 'self'; \
        connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
        require-trusted-types-for 'script'; trusted-types 'none'
        """

    private static let types: [Substring: String] = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    ]

    /// Changes with the file; collisions are harmless.
    private static func digest(_ bytes: [UInt8]) -> String {
        String(
            bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 },
            radix: 16
        )
    }
}

/// Header fields of every response to a browser.
enum PageFields {
    static let guards: [(name: String, value: String)] = [
        ("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"), ("cross-origin-opener-policy", "same-origin"),
        ("x-frame-options", "DENY"),
    ]
}
