import Pawl
import PawlBase
import PawlSystem
import PawlWeb
import Synchronization

/// The page's files, which are embedded in the program, and what is made of them: a document with the script and the
/// style that its first rows need, and the scripts that are loaded later.
struct PageAssets: Sendable {
    final class Asset: Sendable {
        enum Content: Sendable {
            case embedded(EmbeddedBytes)
            case made([UInt8])
        }

        let type: String
        let tag: String
        private let content: Content
        /// Made when it is first requested.
        private let packed = Mutex<[UInt8]?>(nil)

        init(_ type: String, _ content: Content) {
            self.type = type
            self.content = content
            tag = PageAssets.digest(Asset.bytes(of: content))
        }

        var bytes: [UInt8] { Asset.bytes(of: content) }

        private static func bytes(of content: Content) -> [UInt8] {
            switch content {
            case .embedded(let file): file.bytes
            case .made(let bytes): bytes
            }
        }

        var compressed: [UInt8] {
            packed.withLock { packed in
                if let packed { return packed }
                let made = Gzip.compress(bytes)
                packed = made
                return made
            }
        }
    }

    /// All services of a process share them.
    static let shared = PageAssets()

    private let assets: [String: Asset]
    /// The policy of every response, which names the scripts and the style of the document.
    private let policy: String

    private init() {
        let texts: [String: String] = PageAssets.files.filter { !$0.name.hasSuffix(".png") }
            .reduce(into: [:]) { $0[$1.name] = $1.bytes.text }
        do throws(PageBundle.Broken) {
            let (main, later) = try PageBundle.scripts(entry: "main.js") { texts[$0] }
            let sheets = PageAssets.files.filter { $0.name.hasSuffix(".css") }.compactMap { texts[$0.name] }
            // What the first row needs is in the document: a request costs as much time as it does.
            let parts = [
                (PageBundle.code(of: texts["early.js"] ?? ""), "<script src=\"early.js\"></script>", "script"),
                (PageBundle.style(sheets), "<link rel=\"stylesheet\" href=\"page.css\">", "style"),
                (main, "<script type=\"module\" src=\"page.js\"></script>", "script type=\"module\""),
            ]
            var document = texts["index.html"] ?? ""
            for (text, reference, element) in parts {
                document = try PageBundle.embed(text, inPlaceOf: reference, as: element, in: document)
            }
            var made = PageAssets.files.filter { $0.name != "index.html" }.map {
                ("/" + $0.name, Asset.Content.embedded($0.bytes))
            }
            made.append(("/", .made(Array(document.utf8))))
            made += later.map { ("/" + PageBundle.path(of: $0.entry), .made(Array($0.script.utf8))) }
            assets = made.reduce(into: [:]) { assets, file in
                let ending = file.0 == "/" ? "html" : file.0.split(separator: ".").last ?? ""
                assets[file.0] = Asset(PageAssets.types[ending] ?? "text/plain", file.1)
            }
            policy = PageAssets.policy(scripts: [parts[0].0, parts[2].0], style: parts[1].0)
        } catch {
            // The files are our own: a test loads the page.
            preconditionFailure(error.what)
        }
    }

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
            ("content-security-policy", policy),
        ]
        response.fields += PageFields.guards
        return response
    }

    /// Whether gzip is among the accepted codings (RFC 9110 §12.5.3).
    static func takesGzip(_ field: String?) -> Bool {
        (field ?? "").split(separator: ",").contains { element in
            let parts = element.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard parts.first == "gzip" || parts.first == "*" else { return false }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }?.dropFirst(2) ?? "1"
            return !weight.allSatisfy { $0 == "0" || $0 == "." }
        }
    }

    /// Only this server's own files, and what it has put into the document (by digest); text is never parsed as HTML.
    private static func policy(scripts: [String], style: String) -> String {
        func source(_ text: String) -> String { "'sha256-\(Base64.encode(SHA256.digest(Array(text.utf8))))'" }
        return """
            default-src 'none'; script-src 'self' \(scripts.map(source).joined(separator: " ")); \
            style-src 'self' \(source(style)); img-src 'self' data:; media-src 'self'; \
            connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
            require-trusted-types-for 'script'; trusted-types 'none'
            """
    }

    private static let types: [Substring: String] = [
        "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml", "png": "image/png", "webmanifest": "application/manifest+json",
    ]

    /// Changes with the file; collisions are harmless.
    private static func digest(_ bytes: [UInt8]) -> String {
        String(bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }, radix: 16)
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
