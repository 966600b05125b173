import PawlVerify
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlIntegrity
@testable import PawlServiceCommands
@testable import PawlTerminal

@Suite struct OptionParserTests {
    /// The plan of a command line without an input file.
    private func plan(_ arguments: String...) throws(Failure) -> GetPlan {
        try GetPlan(arguments: arguments) { (path) throws(Failure) in
            throw Failure(.cannotOpen, "cannot open", at: path, because: "no file belongs to this test")
        }
    }

    private func failure(_ arguments: String...) -> Failure? {
        do throws(Failure) {
            _ = try GetPlan(arguments: arguments) { _ in [] }
            return nil
        } catch { return error }
    }

    @Test(arguments: [
        ["-x", "4"], ["-x4"], ["--connections", "4"], ["--connections=4"], ["-kx4"], ["-qkx", "4"],
        ["--max-connection-per-server=4"],
    ]) func `an option's value is accepted in every usual form`(form: [String]) throws {
        let plan = try GetPlan(arguments: form + ["http://h/f"]) { _ in [] }
        #expect(plan.options.download.connections == 4)
        #expect(plan.items.map(\.source) == ["http://h/f"])
    }

    @Test func `every option of the table reaches its field`() throws {
        let plan = try plan(
            "-d", "dir", "-o", "a/b.iso", "-x", "9", "-j", "7", "--mirror", "http://m/1", "--mirror=http://m/2", "-H",
            "A: 1", "-H", "B:2", "--user", "me:se:cret", "--netrc", "--referer", "http://r/", "-U", "agent",
            "--load-cookies", "jar", "--proxy", "socks5h://p", "--no-proxy", "a,b", "-k", "--cacert", "ca", "--cert",
            "c", "--key", "k", "--limit-rate", "100K", "--checksum", "MD5=" + String(repeating: "aB", count: 16),
            "--retries", "0", "--retry-delay", "0.25", "--timeout", "2.5", "--max-redirects", "3", "--interface",
            "eth0", "--lowest-speed-limit", "2K", "--if-exists", "skip", "--range", "0-99", "--naming", "hash",
            "--no-remote-time", "--json", "-q", "http://h/f")
        var wanted = DownloadOptions()
        wanted.folder = "dir/a"
        wanted.fileName = "b.iso"
        wanted.connections = 9
        wanted.mirrors = ["http://m/1", "http://m/2"]
        wanted.headers = ["A: 1", "B:2"]
        (wanted.user, wanted.password) = ("me", "se:cret")
        wanted.netrc = ""
        (wanted.referer, wanted.userAgent, wanted.cookieFile) = ("http://r/", "agent", "jar")
        (wanted.proxy, wanted.noProxy, wanted.verifiesPeer) = ("socks5h://p", "a,b", false)
        (wanted.authorityFile, wanted.certificate, wanted.key) = ("ca", "c", "k")
        wanted.checksum = "md5=" + String(repeating: "ab", count: 16)
        (wanted.retries, wanted.retryDelay, wanted.timeout, wanted.maximumRedirects) = (
            0, .milliseconds(250), .milliseconds(2500), 3
        )
        (wanted.existingFile, wanted.range, wanted.naming) = (.skip, "0-99", .hash)
        (wanted.interface, wanted.lowestSpeed) = ("eth0", 2048)
        wanted.keepsServerTime = false
        #expect(try plan.downloadOptions(for: plan.items[0]) == wanted)
        let shared = plan.options
        #expect((shared.jobs, shared.rateLimit) == (7, 102_400))
        #expect(shared.isJSON && shared.isQuiet && shared.help == nil)
    }

    @Test func `without options everything has its default`() throws {
        let plan = try plan("http://h/f")
        #expect(try plan.downloadOptions(for: plan.items[0]) == DownloadOptions())
        #expect(plan.options.jobs == nil)
        #expect(plan.options.rateLimit == nil)
    }

    @Test(arguments: [("auto", nil), ("AUTO", nil), ("1", 1), ("1000", 1000)] as [(String, Int?)])
    func `the number of jobs is given, or found`(value: String, jobs: Int?) throws {
        #expect(try plan("-j", "7", "--jobs", value, "u").options.jobs == jobs)
    }

    @Test(arguments: ["-9223372036854775808", "1000001", "high", ""])
    func `a priority that the queue has no room for is refused`(value: String) {
        var options = AddOptions()
        #expect(throws: Failure.self) {
            try OptionParser(AddOptions.table, command: "add").parse(["--priority=\(value)", "u"], into: &options)
        }
        #expect(options.priority == 0)
    }

    @Test func `options and URLs mix, and two dashes end the options`() throws {
        let plan = try plan("u1", "-q", "u2", "--", "-k", "--json")
        #expect(plan.items.map(\.source) == ["u1", "u2", "-k", "--json"])
        #expect(plan.options.isQuiet && plan.options.download.verifiesPeer && !plan.options.isJSON)
    }

    @Test func `an optional value is taken if it is attached, and a file also if it follows`() throws {
        for words in [["--netrc", "my.netrc"], ["--netrc", "/etc/logins"], ["--netrc=my.netrc"]] {
            let plan = try GetPlan(arguments: words + ["http://h/f"]) { _ in [] }
            #expect(plan.options.download.netrc == words.last?.replacing("--netrc=", with: ""))
            #expect(plan.items.map(\.source) == ["http://h/f"])
        }
        #expect(try plan("--netrc", "http://h/f").options.download.netrc == "")
        #expect(try plan("--netrc", "-q", "u").options.download.netrc == "")
        #expect(try !plan("--no-netrc", "u").options.readsNetrc)
        #expect(try plan("--netrc", "u").options.download.netrc == "")
        #expect(try plan("--netrc=my", "u").options.download.netrc == "my")
    }

    @Test func `a user name may come without a password, and a password may be empty`() throws {
        #expect(try plan("--user", "me", "u").options.download.password == nil)
        #expect(try plan("--user", "me:", "u").options.download.password == "")
    }

    @Test(arguments: [
        (["--conections", "4"], "unknown option --conections; did you mean --connections?"),
        (["-user", "a:b"], "unknown option -u; use --user NAME:PASSWORD"),
        (["--xyzzy"], "unknown option --xyzzy; see 'pawl help get'"),
        (["--json=yes"], "cannot use option --json: it takes no value"),
        (["--dir"], "cannot use option --dir: missing value: --dir DIR"),
        (["-o"], "cannot use option -o: missing value: -o FILE"),
        (["-x", "0"], "cannot use -x 0: must be a whole number from 1 to 60"),
        (["-x", "+4"], "cannot use -x +4: must be a whole number from 1 to 60"),
        (["-j", "many"], "cannot use -j many: must be auto or a whole number from 1 to 1000"),
        (
            ["--timeout", "0"],
            "cannot use --timeout 0: must be a number of seconds above 0, up to 86400, such as 2 or 0.5"
        ),
        (
            ["--timeout", "1e3"],
            "cannot use --timeout 1e3: must be a number of seconds above 0, up to 86400, such as 2 or 0.5"
        ), (["--naming", "best"], "cannot use --naming best: must be one of server, url, hash"),
        (["--if-exists", ""], "cannot use --if-exists '': must be one of rename, resume, overwrite, skip, fail"),
        (
            ["-o", "-", "--json"],
            "cannot use --json: the file is written to standard output; write to a file, or omit --json"
        ),
    ]) func `a wrong option is refused with the expected form`(arguments: [String], sentence: String) {
        #expect(throws: Failure.self) { try GetPlan(arguments: arguments + ["u"]) { _ in [] } }
        do throws(Failure) {
            // A missing value must not be taken from the URL.
            let isMissing = sentence.contains("missing value")
            _ = try GetPlan(arguments: isMissing ? arguments : arguments + ["u"]) { _ in [] }
        } catch {
            #expect(error.code == .badOption)
            #expect(error.commandLineSentence == sentence)
        }
    }

    @Test(arguments: ["", "5", "-", "--5", "9-5", "a-b", "-0", "1-2-3", "99999999999999999999-"])
    func `B5 an invalid range is refused`(range: String) { #expect(failure("--range", range, "u")?.code == .badOption) }

    @Test(arguments: ["0-99", "100-199", "-100", "100-", "5-5"]) func `B5 every form of range is accepted`(
        range: String
    ) throws { #expect(try plan("--range=\(range)", "u").options.download.range == range) }

    @Test(arguments: [
        "sha-256=\(OptionParserTests.sum)", "sha256:\(OptionParserTests.sum)", "SHA-256:\(OptionParserTests.sum)",
        "sha_256=\(OptionParserTests.sum.uppercased())", "SHA256 = \(OptionParserTests.sum)", OptionParserTests.sum,
        "sha256-q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
        "sha256-q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=?foo", "sha-256-\(OptionParserTests.sum)",
        "sha-256=q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=",
        "sha-256=:q6urq6urq6urq6urq6urq6urq6urq6urq6urq6urq6s=:", "0x\(OptionParserTests.sum)",
        "SHA256=0X\(OptionParserTests.sum.uppercased())", "sha256 \(OptionParserTests.sum)",
        Array(repeating: "AB", count: 32).joined(separator: ":"), "\(OptionParserTests.sum)  f.iso",
        "\(OptionParserTests.sum) *../f.iso\n", "\\\(OptionParserTests.sum)  a\\\\b",
        "SHA256 (f (1).iso) = \(OptionParserTests.sum)", "SHA2-256(f)= \(OptionParserTests.sum)",
        "SHA256          \(OptionParserTests.sum.uppercased())       C:\\f.iso",
    ]) func `a checksum is taken in the usual spellings`(given: String) throws {
        let plan = try plan("--checksum", given, "u")
        #expect(plan.options.download.checksum == "sha-256=\(sum)")
        #expect(try OptionValues.checksum(given).text == "sha-256=\(sum)")
        #expect(Checksum.list("\(given),md5:\(sum.prefix(32))")?.count == 2)
    }

    @Test func `a line may have commas in its name, and several lines are no digest`() throws {
        let line = "\(sum)  a,b, c.iso"
        #expect(try plan("--checksum", line, "u").options.download.checksum == "sha-256=\(sum)")
        for text in ["\(line)\n\(line)", "\(sum)  f\n\(sum)  g", "SHA3 (f) = \(sum)", "0x12"] {
            let failure = failure("--checksum", text, "u")
            #expect(failure?.why.contains("one line of a sums file") == true, "\(text)")
        }
    }

    private static let sum = String(repeating: "ab", count: 32)
    private var sum: String { OptionParserTests.sum }

    @Test(arguments: [(32, "md5"), (40, "sha-1"), (64, "sha-256"), (96, "sha-384"), (128, "sha-512")])
    func `the type of bare digits is that of their number`(count: Int, type: String) throws {
        let digits = String(repeating: "0F", count: count / 2)
        #expect(try plan("--checksum", digits, "u").options.download.checksum == "\(type)=\(digits.lowercased())")
    }

    @Test(arguments: ["sha-256", "sha-256=", "sha-256=12", "crc=12", "md5=\(String(repeating: "g", count: 32))"])
    func `an invalid checksum is refused`(checksum: String) {
        #expect(failure("--checksum", checksum, "u")?.code == .badOption)
    }

    @Test(arguments: ["nothing", ": v", "a b: c", "X: a\r\nY: b", "X: \u{0}"])
    func `a header that would break the request is refused`(header: String) {
        #expect(failure("-H", header, "u")?.code == .badOption)
    }

    @Test func `help is shown even if nothing else is valid`() throws {
        #expect(try plan("-h").options.help == .short)
        #expect(try plan("--help").options.help == .short)
    }

    @Test func `without a URL nothing starts`() {
        #expect(failure("-q")?.description == "missing URL; see 'pawl help get'")
    }
}
