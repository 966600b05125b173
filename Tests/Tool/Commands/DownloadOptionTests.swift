import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlJournal
@testable import PawlPipe
@testable import PawlServer
@testable import PawlServiceCommands
@testable import PawlSystem
@testable import PawlTerminal
@testable import PawlVerify

/// Walks the table of a download's options.
@Suite struct DownloadOptionTests {
    /// A valid value of each option that takes one, other than its default, as a user writes it.
    private static let samples = [
        "output": "f", "naming": "hash", "if-exists": "skip", "mirror": "http://m/1", "range": "0-99",
        "checksum": "md5=" + String(repeating: "ab", count: 16), "length": "7", "connections": "60",
        "limit-rate": "10K", "retries": "0", "retry-delay": "0.00001", "max-retry-after": "86400", "timeout": "0.5",
        "connect-timeout": "2.5", "lowest-speed-limit": "2K", "interface": "eth0", "ip-version": "6",
        "max-redirects": "0", "header": "A: 1\\2", "user": "u", "password": "p w", "netrc": "n", "referer": "http://r/",
        "user-agent": "a", "load-cookies": "c", "profile": "p", "region": "eu-west-1", "endpoint-url": "http://e",
        "proxy": "", "no-proxy": "h", "cacert": "a", "cert": "c", "key": "k", "resolve": "h:443:192.0.2.1",
        "pinned-public-key": "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", "verify": "sidecar",
        "keyring": "r", "minisign-key": "m",
    ]

    /// The options with one set as a user writes it.
    private func given(_ option: DownloadOption) throws -> DownloadOptions {
        var options = DownloadOptions()
        let text = option.placeholder == nil ? "true" : Self.samples[option.name]
        try option.take(#require(text, "no sample of \(option.name)"), into: &options)
        return options
    }

    @Test func `the defaults are valid, and each sample is another value`() throws {
        try DownloadOption.check(DownloadOptions())
        for option in DownloadOption.table {
            let options = try given(option)
            #expect(options != DownloadOptions(), "\(option.name)")
            try DownloadOption.check(options)
        }
    }

    @Test(arguments: EquivalentNames.pairs) func `options that differ in the bytes of a text are others`(
        left: String, right: String
    ) throws {
        var count = 0
        for option in DownloadOption.table where option.placeholder != nil {
            var values = (DownloadOptions(), DownloadOptions())
            let isText =
                (try? option.take("http://h/?" + left, into: &values.0)) != nil
                && (try? option.take("http://h/?" + right, into: &values.1)) != nil
            guard isText else { continue }
            count += 1
            #expect(!values.0.hasSameBytes(as: values.1), "\(option.name)")
            #expect(values.0.hasSameBytes(as: values.0))
        }
        #expect(count > 12)
        var (old, new) = (DownloadOptions(), DownloadOptions())
        (old.folder, new.folder) = (left, right)
        #expect(!old.hasSameBytes(as: new))
        (old, new) = (DownloadOptions(), DownloadOptions())
        (old.attributes, new.attributes) = (["a": left], ["a": right])
        #expect(!old.hasSameBytes(as: new))
    }

    @Test func `no name is used twice, neither given nor stored`() {
        let table = DownloadOption.table
        var meanings: [String: String] = [:]
        for option in table {
            for name in [option.name] + option.aliases + [option.stored].compactMap({ $0 }) {
                #expect([nil, option.name].contains(meanings[name]), "\(name)")
                meanings[name] = option.name
            }
        }
        #expect(Set(table.compactMap(\.stored)).count == table.count - 1)
    }

    @Test func `what is stored is read again, by its stored name and over RPC`() throws {
        for option in DownloadOption.table where option.stored != nil {
            let options = try given(option)
            var stored = StoredOptions()
            stored.options = options
            #expect(StoredOptions(text: stored.text) == stored, "\(option.name)")
            #expect(options.values.map(\.name) == [option.stored], "\(option.name)")
            var received = DownloadOptions()
            try received.take(options.values)
            #expect(received == options, "\(option.name)")
        }
    }

    @Test func `a call takes the names of an input file`() throws {
        for option in DownloadOption.table {
            var received = DownloadOptions()
            let text = option.placeholder == nil ? "true" : try #require(Self.samples[option.name])
            try received.take([(name: option.name, value: text)])
            #expect(received == (try given(option)), "\(option.name)")
        }
    }

    @Test func `the command line sets the same value, and shows the same default`() throws {
        for option in DownloadOption.table where !["limit-rate", "password", "output"].contains(option.name) {
            let row = try #require(GetOptions.table.first { $0.entry.long == option.name })
            #expect(row.entry.standard == option.standard)
            var options = GetOptions()
            try row.apply(&options, Self.samples[option.name] ?? "")
            #expect(options.download == (try given(option)), "\(option.name)")
        }
    }

    @Test func `help shows the defaults of a download`() {
        let shown = Dictionary(uniqueKeysWithValues: DownloadOption.table.map { ($0.name, $0.standard) })
        let wanted = [
            "naming": "server", "if-exists": "rename", "retries": "5", "retry-delay": "1", "max-retry-after": "3600",
            "timeout": "30", "max-redirects": "20",
        ]
        for (name, standard) in wanted { #expect(shown[name] == standard, "\(name)") }
    }

    @Test func `the bounds themselves are valid`() throws {
        var options = DownloadOptions()
        for (name, text) in [("retries", "1000000"), ("max-redirects", "1000")] {
            try #require(DownloadOption.named[name]).take(text, into: &options)
        }
        #expect(options.retries == 1_000_000 && options.maximumRedirects == 1000)
        try DownloadOption.check(options)
    }

    @Test func `a stored value that cannot be read leaves the default`() {
        let text = "retries x\ndelay x\nverifies x\nexisting x\nconnections x\n"
        #expect(StoredOptions(text: text).options == DownloadOptions())
    }

    @Test func `the form that version 0.1.0 stored is read`() {
        let text = "name a\nrate 512\nverifies false\nservertime false\ntimeout 2.5\nagent A\\\\B\n"
        var wanted = DownloadOptions()
        (wanted.fileName, wanted.rateLimit, wanted.verifiesPeer) = ("a", 512, false)
        (wanted.keepsServerTime, wanted.timeout, wanted.userAgent) = (false, .milliseconds(2500), "A\\B")
        #expect(StoredOptions(text: text).options == wanted)
    }

    @Test func `a stored value that is refused now becomes the nearest valid one`() throws {
        let text =
            "redirects -1\nrate -1\nlowest -5\nlength -1\nconnections 64\nretries 9000000\n"
            + "header Authorization : x\nheader  Foo\t: y\nheader X Y: z\nheader : z\nheader B: 1\n"
        let options = StoredOptions(text: text).options
        var wanted = DownloadOptions()
        (wanted.maximumRedirects, wanted.connections, wanted.retries) = (0, 60, 1_000_000)
        wanted.headers = ["Authorization: x", "Foo: y", "B: 1"]
        #expect(options == wanted)
        try DownloadOption.check(options)
    }

    @Test func `blanks around the name of a header field are not sent`() throws {
        var options = DownloadOptions()
        try #require(DownloadOption.named["header"]).take(" Authorization : x : y", into: &options)
        #expect(options.headers == ["Authorization: x : y"])
    }

    @Test func `several checksums are one value, and each is added once`() throws {
        let option = try #require(DownloadOption.named["checksum"])
        let (one, two) = ("md5=" + String(repeating: "ab", count: 16), "crc32=01020304")
        var options = DownloadOptions()
        for text in [one, two, one.uppercased()] { try option.take(text, into: &options) }
        #expect(options.checksum == "\(one),\(two)")
        var stored = StoredOptions()
        stored.options = options
        #expect(StoredOptions(text: stored.text) == stored)
        #expect(stored.given.map(\.text) == [one, two])
        for text in ["\(one),", "\(one),md5=0", ","] {
            #expect(throws: Failure.self) { try option.take(text, into: &options) }
        }
        #expect(options.checksum == "\(one),\(two)")
    }

    @Test(arguments: [
        ("retries", "-1"), ("connections", "61"), ("timeout", "0"), ("timeout", "nan"), ("length", "-1"),
        ("max-redirects", "x"), ("max-redirects", "1001"), ("retries", "1000001"), ("lowest-speed-limit", "-1"),
        ("checksum", "md5=0"), ("cacert", ""), ("user", "a\nb"), ("header", "none"), ("if-exists", "x"),
        ("insecure", "x"), ("output", "a/b"),
    ]) func `a value out of bounds is refused with code 28`(name: String, text: String) throws {
        let option = try #require(DownloadOption.named[name])
        var options = DownloadOptions()
        let failure = #expect(throws: Failure.self) { try option.take(text, into: &options) }
        #expect(failure?.code == .badOption)
        #expect(options == DownloadOptions())
    }

    @Test func `the library refuses what the command line refuses`() {
        let wrong: [(inout DownloadOptions) -> Void] = [
            { $0.retries = -1 }, { $0.connections = 0 }, { $0.timeout = .zero }, { $0.expectedLength = -1 },
            { $0.maximumRedirects = -1 }, { $0.maximumRedirects = 1001 }, { $0.retries = 1_000_001 },
            { $0.rateLimit = -1 }, { $0.headers = ["none"] }, { $0.password = "a\nb" }, { $0.checksum = "md5" },
            { $0.range = "5" }, { $0.fileName = ".." },
        ]
        for spoil in wrong {
            var options = DownloadOptions()
            spoil(&options)
            let failure = #expect(throws: Failure.self) { try DownloadOption.check(options) }
            #expect(failure?.code == .badOption)
        }
    }

    @Test func `both aria2 surfaces know aria2's names, and files are named on the command line only`() throws {
        for option in DownloadOption.table {
            guard let name = option.aria2 else { continue }
            #expect(Aria2cRow.named[name] != nil, "\(name)")
            #expect((Aria2Option.table[name] == nil) == option.namesFile, "\(name)")
        }
    }
}
