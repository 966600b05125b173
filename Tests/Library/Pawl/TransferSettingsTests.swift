import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlEngine

/// What downloads of one list share.
struct TransferSettingsTests {
    private let cache = TransferSettingsCache(deniesPrivateAddresses: false)

    private func settings(_ source: String, _ options: DownloadOptions) throws(Failure) -> TransferSettings {
        try Job(source: source, options: options, settingsCache: cache).settings
    }

    @Test func `downloads with the same options share their settings`() throws {
        var options = DownloadOptions()
        options.headers = ["A: 1"]
        let first = try settings("http://h/a", options)
        #expect(try settings("http://h/b", options) === first)
        options.fileName = "another"
        #expect(try settings("http://h/c", options) === first)
        options.headers = ["A: 2"]
        #expect(try settings("http://h/d", options).values.headers == ["A: 2"])
    }

    @Test func `options are checked also after valid ones, each time`() throws {
        var options = DownloadOptions()
        _ = try settings("http://h/a", options)
        options.userAgent = "a\r\nb"
        for _ in 0..<2 {
            let failure = #expect(throws: Failure.self) { try settings("http://h/a", options) }
            #expect(failure?.code == .badOption)
        }
    }

    @Test func `the credentials of a URL are for that URL only`() throws {
        let options = DownloadOptions()
        let common = try settings("http://h/a", options)
        #expect(common.values.credentials == nil)
        let own = try settings("http://u:p@h/a", options)
        #expect(own.values.credentials == Credentials(user: "u", password: "p"))
        #expect(try settings("http://h/b", options) === common)
    }

    @Test func `the credentials of the options override those of a URL`() throws {
        var options = DownloadOptions()
        options.user = "me"
        options.password = "word"
        let settings = try settings("http://u:p@h/a", options)
        #expect(settings.values.credentials == Credentials(user: "me", password: "word"))
    }
}
