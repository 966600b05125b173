import CCurl
import Glibc

/// Process-wide state of libcurl: its initialization and the features of this build.
enum CurlLibrary {
    /// The result of `curl_global_init`, which runs once.
    static let start: CURLcode = curl_global_init(pawl_global_all)

    /// The user's home folder, for SSH's files.
    static var home: String? {
        guard let value = unsafe getenv("HOME") else { return nil }
        let text = unsafe String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// The login name of an SFTP URL without one, chosen as `ssh` does.
    static var loginName: String? {
        if let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name {
            return unsafe String(cString: name)
        }
        guard let value = unsafe getenv("USER") else { return nil }
        return unsafe String(cString: value)
    }

    static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    static func text(of code: CURLcode) -> String {
        guard let words = unsafe curl_easy_strerror(code) else { return "error \(code.rawValue)" }
        return unsafe String(cString: words)
    }
}
