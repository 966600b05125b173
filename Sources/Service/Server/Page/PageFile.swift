import Glibc
import Pawl
import PawlBase
import PawlJournal
import PawlWeb

/// Serves the file of a finished download so that nothing in it can run: it is shown or saved, never executed.
///
/// Only types that a browser shows without running anything keep their media type; all others are sent as
/// bytes to be saved.
struct PageFile {
    let path: String
    let files: RootedFiles
    /// Only this file is sent, not another one of the path.
    let file: FinishedFile
    /// The media type from the download's server; used only if it is harmless.
    let claimedType: String?

    func response(to request: WebRequest) -> WebResponse {
        guard let descriptor = files.open(path, if: file) else {
            return WebResponse(404, text: "the file does not exist")
        }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            return WebResponse(404, text: "not a regular file")
        }
        let length = Int64(status.st_size)
        let tag = "\"\(length)-\(status.st_mtim.tv_sec)-\(status.st_mtim.tv_nsec)\""
        // A file other than the one that the browser has partially is sent whole.
        let isSame = request.fields[.ifRange].map { $0 == tag } ?? true
        let part = isSame ? PageRange(request.fields[.range], length: length) : .whole
        var response: WebResponse
        switch part {
        case .whole:
            let file = WebFile(descriptor: descriptor, offset: 0, length: length)
            response = WebResponse(200, contentType: type, body: .file(file))
        case .part(let bytes):
            let file = WebFile(descriptor: descriptor, offset: bytes.lowerBound, length: Int64(bytes.count))
            response = WebResponse(206, contentType: type, body: .file(file))
            let range = "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1)/\(length)"
            response.fields.append(("content-range", range))
        case .none:
            close(descriptor)
            response = WebResponse(416)
            response.fields.append(("content-range", "bytes */\(length)"))
        }
        response.fields += [
            ("etag", tag), ("accept-ranges", "bytes"), ("cache-control", "private, no-cache"),
            ("content-security-policy", "sandbox; default-src 'none'; frame-ancestors 'none'"),
            ("content-disposition", disposition(saves: request.value("save") != nil)),
        ]
        response.fields += PageFields.guards
        return response
    }

    private var name: String { String(path.pathParts().last ?? "file") }

    /// Shown inside a page, or saved under its name (RFC 6266).
    private func disposition(saves: Bool) -> String {
        let isShown = !saves && type != PageFile.unknown
        let plain = name.utf8.map { byte in
            let isPlain = byte.isLetterOrDigit || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
            return isPlain ? String(Unicode.Scalar(byte)) : "_"
        }
        let coded = name.utf8.map { byte in
            if byte.isLetterOrDigit || byte == UInt8(ascii: ".") { return String(Unicode.Scalar(byte)) }
            return "%" + String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return (isShown ? "inline" : "attachment")
            + "; filename=\"\(plain.joined())\"; filename*=UTF-8''\(coded.joined())"
    }

    /// From the file name extension, else from its server.
    var type: String {
        let ending = name.split(separator: ".").dropFirst().last?.lowercased() ?? ""
        if let type = PageFile.endings[ending] { return type }
        let claimed = claimedType?.split(separator: ";").first.map { $0.lowercased() } ?? ""
        return PageFile.endings.values.contains(claimed) ? claimed : PageFile.unknown
    }

    static let unknown = "application/octet-stream"

    private static let endings: [String: String] = [
        "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp",
        "avif": "image/avif", "bmp": "image/bmp", "ico": "image/x-icon", "mp4": "video/mp4", "m4v": "video/mp4",
        "webm": "video/webm", "ogv": "video/ogg", "mov": "video/mp4", "mp3": "audio/mpeg", "m4a": "audio/mp4",
        "aac": "audio/aac", "ogg": "audio/ogg", "oga": "audio/ogg", "opus": "audio/ogg", "wav": "audio/wav",
        "flac": "audio/flac", "txt": "text/plain; charset=utf-8", "md": "text/plain; charset=utf-8",
        "log": "text/plain; charset=utf-8", "json": "text/plain; charset=utf-8", "csv": "text/plain; charset=utf-8",
        "srt": "text/plain; charset=utf-8", "vtt": "text/plain; charset=utf-8",
    ]
}

/// The range of a Range field; several ranges get the whole file, which is allowed (RFC 9110 §14.2).
package enum PageRange: Hashable, Sendable {
    case whole
    case part(Range<Int64>)
    /// The range is outside the file.
    case none

    package init(_ field: String?, length: Int64) {
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else {
            self = .whole
            return
        }
        let ends = field.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }) else {
            self = .whole
            return
        }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?) where first <= last:
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .none
        case (let first?, nil) where ends[1].isEmpty: self = first < length ? .part(first..<length) : .none
        case (nil, let count?) where ends[0].isEmpty:
            self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .none
        default: self = .whole
        }
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
    fileprivate var isLetterOrDigit: Bool {
        isDigit || (self | 32 >= UInt8(ascii: "a") && self | 32 <= UInt8(ascii: "z"))
    }
}
