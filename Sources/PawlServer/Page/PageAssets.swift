import PawlCore
import Synchronization

/// The page's files, which are embedded in the program, and what is made of them: one script and one style sheet.
struct PageAssets: Sendable {
    final class Asset: Sendable {
        let type: String
        let bytes: [UInt8]
        let tag: String
        /// Made when it is first requested.
        private let packed = Mutex<[UInt8]?>(nil)

        init(_ type: String, _ bytes: [UInt8]) {
            self.type = type
            self.bytes = bytes
            tag = PageAssets.digest(bytes)
        }

        var compressed: [UInt8] {
            packed.withLock { packed in
                if let packed { return packed }
                let made = GzipWriter.compress(bytes)
                packed = made
                return made
            }
        }
    }

    /// All services of a process share them.
    static let shared = PageAssets()

    private let assets: [String: Asset]

    private init() {
        assets = (PageAssets.files + PageAssets.bundles).reduce(into: [:]) { assets, file in
            let type = PageAssets.types[file.name.split(separator: ".").last ?? ""] ?? "text/plain"
            assets[file.name == "index.html" ? "/" : "/" + file.name] = Asset(type, file.bytes)
        }
    }

    /// The names under which `index.html` has the joined files.
    static let script = "page.js"
    static let style = "page.css"

    private static let bundles: [(name: String, bytes: [UInt8])] = {
        let texts = Dictionary(
            uniqueKeysWithValues: files.map { ($0.name, String(decoding: $0.bytes, as: UTF8.self)) }
        )
        let sheets = files.filter { $0.name.hasSuffix(".css") }.compactMap { texts[$0.name] }
        do throws(PageBundle.Broken) {
            return [
                (script, Array(try PageBundle.script(entry: "main.js") { texts[$0] }.utf8)),
                (style, Array(PageBundle.style(sheets).utf8)),
            ]
        } catch {
            // The files are our own: a test loads the page.
            preconditionFailure(error.what)
        }
    }()

    subscript(path: String) -> Asset? { assets[path] }

    /// The response for an asset; 304 if the browser has it already.
    func response(_ asset: Asset, to request: WebRequest) -> WebResponse {
        let isCompressed = PageAssets.takesGzip(request.fields[.acceptEncoding])
        let tag = "\"\(asset.tag)\(isCompressed ? "-gzip" : "")\""
        var response: WebResponse
        if request.fields[.ifNoneMatch] == tag {
            response = WebResponse(304)
        } else {
            let bytes = isCompressed ? asset.compressed : asset.bytes
            response = WebResponse(200, contentType: asset.type, body: .bytes(bytes))
            if isCompressed { response.fields.append(("content-encoding", "gzip")) }
        }
        response.fields += [
            ("etag", tag), ("vary", "accept-encoding"), ("cache-control", "no-cache"),
            ("content-security-policy", Self.policy),
        ]
        response.fields += PageFields.guards
        return response
    }

    /// Whether gzip is among the accepted codings (RFC 9110 §12.5.3).
    static func takesGzip(_ field: String?) -> Bool {
        (field ?? "").split(separator: ",").contains { element in
            let parts = element.split(separator: ";").map {
                $0.filter { $0 != " " && $0 != "\t" }.lowercased()
            }
            guard parts.first == "gzip" || parts.first == "*" else { return false }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2) ?? "1"
            return !weight.allSatisfy { $0 == "0" || $0 == "." }
        }
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
