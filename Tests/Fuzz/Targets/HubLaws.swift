@testable import PawlBase
@testable import PawlHub

/// What a model hub sends, addresses of repositories, and pages that people paste.
enum HubLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        let text = String(decoding: bytes, as: UTF8.self)
        for address in [try? HubAddress(text), try? HubAddress("hf://" + text)].compactMap(\.self) {
            try check(address)
        }
        if let page = HubAddress(page: text, of: HubAccess.usualEndpoint) { try check(page) }
        if let page = try? HubPage(bytes, at: "hub") {
            for entry in page.entries { try check(entry) }
        }
        if let commit = HubRevision.commit(bytes) { try hold(HubAddress.isCommit(commit), "no commit: \(commit)") }
        let url = HubAccess().url("/api/models/o/n/tree/c")
        var head = ResponseHead(status: 200)
        head.link = text
        if let next = try? HubPage.next(after: url, head) {
            try hold(next.origin == url.origin, "the next page is elsewhere: \(next.text)")
        }
        let environment = HubEnvironment({ _ in text }, home: "/home")
        if let token = environment.token, HubEnvironment.isToken(token) {
            try hold(FieldText.isSafe(token), "a token that cannot be sent")
        }
    }

    private static func check(_ address: HubAddress) throws(BrokenLaw) {
        let pinned = address.at(String(repeating: "a", count: 40), path: address.path)
        try hold((try? HubAddress(pinned.text)) == pinned, "its own text means another: \(pinned.text)")
        try hold((try? HubAddress(address.text)) == address, "its own text means another: \(address.text)")
        // A part . or .. is refused by both.
        guard let located = try? WebAddress.parse(pinned.text).address else {
            let isTrimmed = pinned.text.utf8.last.map(\.isWhiteSpace) ?? false
            return try hold(isTrimmed || pinned.text.utf8.contains(0x7F), "the kernel refuses it: \(pinned.text)")
        }
        let url = HubAccess().location(of: located)
        try hold(url.origin == HubAccess.usualEndpoint.origin, "another host: \(url.text)")
        try hold(
            !url.path.pathParts().contains("..") && (try? WebAddress.parse(url.text).address) == url,
            "its URL: \(url.text)")
        if let reference = HubCacheLayout(address).reference(address.revision ?? "main") { try checkPath(reference) }
    }

    private static func check(_ entry: HubEntry) throws(BrokenLaw) {
        try hold(entry.size >= 0 && entry.checksum != nil, "a file without size or digest")
        let layout = HubCacheLayout(HubAddress(.models, "o/n"))
        let (link, target) = layout.link(to: entry, at: String(repeating: "a", count: 40))
        for path in [entry.path, layout.blob(entry), layout.lock(entry), link] { try checkPath(path) }
        let up = target.pathParts().prefix { $0 == ".." }.count
        try hold(up == link.pathParts().count - 2, "a link to elsewhere: \(link) to \(target)")
    }

    private static func checkPath(_ path: String) throws(BrokenLaw) {
        let isBelow = path.pathParts(keepsEmpty: true).allSatisfy { FileName.isPossible(String($0)) }
        try hold(isBelow, "a path that leads elsewhere: \(path)")
    }
}
