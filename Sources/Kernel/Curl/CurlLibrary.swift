import CCurl
import Glibc
import PawlBase
import PawlSystem
import Synchronization

/// Process-wide state of libcurl: whether it is loaded and initialized.
enum CurlLibrary {
    private static let isReady = Mutex(false)

    /// Loads and initializes libcurl unless it is; nothing else of it is used before.
    ///
    /// A failure may pass, as a lack of file descriptors does.
    static func start() throws(TransferFault) {
        try isReady.withLock { isReady throws(TransferFault) in
            if isReady { return }
            if let reason = unsafe pawl_curl_load() {
                let text = unsafe String(cString: reason)
                let lacksDescriptors = [EMFILE, ENFILE].contains { text.hasSuffix(SystemError(number: $0).text) }
                throw lacksDescriptors ? .noDescriptor : .withoutCurl(text)
            }
            guard pawl_curl_start(pawl_global_all) == CURLE_OK else { throw .outOfMemory }
            isReady = true
        }
    }

    /// Whether libcurl can be used.
    static var isUsable: Bool {
        do throws(TransferFault) { try start() } catch { return false }
        return true
    }

    /// The login name of an SFTP URL without one, chosen as `ssh` does.
    static var loginName: String? {
        if let entry = unsafe getpwuid(geteuid()), let name = unsafe entry.pointee.pw_name {
            return unsafe String(cString: name)
        }
        return Environment.value("USER")
    }

    static func isReadable(_ path: String) -> Bool { unsafe access(path, R_OK) == 0 }

    static func text(of code: CURLcode) -> String {
        guard let words = unsafe pawl_easy_strerror(code) else { return "error \(code.rawValue)" }
        return unsafe String(cString: words)
    }
}
