import Glibc
package import PawlBase
import PawlSystem

/// The cookies of a loop's requests, apart for each origin under one set of settings: nothing crosses to another origin.
///
/// Belongs to one thread.
package final class OriginCookies {
    private struct Key: Hashable {
        var settings: SettingsID
        var origin: Origin
        var carriesSecrets: Bool

        init(_ request: TransferRequest) {
            settings = request.settings.id
            origin = request.address.origin
            carriesSecrets = request.carriesSecrets
        }
    }

    private struct Entry {
        let loaded: CookieJar
        var jar: CookieJar
        /// The number of requests at the last use.
        var lastUse: UInt64
    }

    private static let limit = 256

    private let clock: any Clock
    private let onEnd: CookieReceiver?
    private var entries: [Key: Entry] = [:]
    private var requests: UInt64 = 0
    /// The file that was read last: nearly always that of the next origin too, which shares its cookies in memory.
    private var last: (settings: SettingsID, jar: CookieJar)?

    /// `onEnd` receives the cookies of each origin when it is forgotten, at the latest at the end.
    package init(clock: any Clock, onEnd: CookieReceiver?) {
        self.clock = clock
        self.onEnd = onEnd
    }

    deinit { for entry in entries.values { end(entry) } }

    /// The cookies that a request carries, as the value of its Cookie field.
    ///
    /// Throws when the cookie file of the settings cannot be read.
    package func field(for request: TransferRequest) throws(TransferFault) -> String? {
        let hasFile = request.carriesSecrets && request.settings.values.cookieFile != nil
        guard hasFile || !entries.isEmpty else { return nil }
        let key = Key(request)
        if hasFile, entries[key] == nil { try add(key, for: request) }
        requests += 1
        entries[key]?.lastUse = requests
        return entries[key]?.jar.field(for: request.address, now: clock.wallTime)
    }

    /// Stores the Set-Cookie fields of a response.
    package func store(_ fields: [String], from request: TransferRequest) {
        guard !fields.isEmpty else { return }
        let key = Key(request)
        // A file that is unreadable has ended the request before.
        if entries[key] == nil { try? add(key, for: request) }
        entries[key]?.jar.store(fields, from: request.address, now: clock.wallTime)
    }

    private func add(_ key: Key, for request: TransferRequest) throws(TransferFault) {
        let loaded = try loaded(for: request)
        if entries.count >= Self.limit { forgetOldOrigins() }
        entries[key] = Entry(loaded: loaded, jar: loaded, lastUse: requests)
    }

    private func forgetOldOrigins() {
        for (key, entry) in entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }).prefix(Self.limit / 2) {
            entries[key] = nil
            end(entry)
        }
    }

    private func end(_ entry: Entry) { onEnd?(entry.loaded.lines, entry.jar.lines) }

    // MARK: the file

    private func loaded(for request: TransferRequest) throws(TransferFault) -> CookieJar {
        guard request.carriesSecrets, let path = request.settings.values.cookieFile else { return CookieJar() }
        if let last, last.settings == request.settings.id { return last.jar }
        guard let bytes = Self.bytes(of: path), bytes.count <= CookieJar.Limit.file else {
            throw .unreadable(cookies: path)
        }
        let jar = CookieJar(netscape: bytes)
        last = (request.settings.id, jar)
        return jar
    }

    /// It may be a pipe, as shells make it for `<(command)`.
    private static func bytes(of path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        return try? BoundedRead.descriptor(file, atMost: CookieJar.Limit.file + 1)
    }
}
