import Testing

@testable import Pawl
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlIntake
@testable import PawlJournal
@testable import PawlPipe
@testable import PawlServer
@testable import PawlServiceCommands
@testable import PawlSystem
@testable import PawlTerminal
@testable import PawlVerify

/// Options and words of curl, wget and aria2.
@Suite struct HabitTests {
    private func plan(_ arguments: String...) throws -> GetPlan {
        try GetPlan(arguments: arguments, readingWith: { _ in [] })
    }

    private func refusal(_ arguments: String...) throws -> String {
        do { _ = try GetPlan(arguments: arguments, readingWith: { _ in [] }) } catch {
            return error.commandLineSentence
        }
        return ""
    }

    @Test(arguments: [
        ["-c"], ["--continue"], ["-C", "-"], ["-L"], ["-fSL"], ["--location"], ["-s", "4"], ["-s4"], ["--split=4"],
        ["--split", "4"], ["--silent"], ["-v"], ["--verbose"], ["--dry-run"], ["-P", "d"], ["-O"], ["-#"],
        ["--progress", "plain"], ["--progress=none"], ["-fsSL"], ["-sSLJO"], ["-s"], ["-R"], ["--no-check-certificate"],
        ["-fsSLo", "f"], ["-4"], ["-6"], ["-4L"], ["--ipv4"], ["--inet6-only"],
    ]) func `common options of other tools are understood`(options: [String]) throws {
        let plan = try GetPlan(arguments: options + ["http://h/f"], readingWith: { _ in [] })
        #expect(plan.items.map(\.source) == ["http://h/f"])
    }

    @Test func `they mean what they mean there`() throws {
        #expect(try plan("-s", "4", "http://h/f").options.download.connections == 4)
        #expect(try plan("-s", "http://h/f").options.isQuiet)
        #expect(try plan("-Ls16", "http://h/f").options.download.connections == 16)
        #expect(try plan("-fsSL", "http://h/f").options.download.connections == nil)
        #expect(try !plan("--no-check-certificate", "http://h/f").options.download.verifiesPeer)
        #expect(try plan("-P", "d", "http://h/f").options.folder == "d")
        #expect(try plan("-4", "http://h/f").options.download.ipVersion == .v4)
        #expect(try plan("-4", "--inet6-only", "http://h/f").options.download.ipVersion == .v6)
        #expect(try plan("--ip-version", "6", "http://h/f").options.download.ipVersion == .v6)
        #expect(try plan("--silent", "http://h/f").options.isQuiet)
        #expect(try plan("-v", "http://h/f").options.isVerbose)
        #expect(try plan("--progress", "json", "http://h/f").options.isJSON)
        #expect(try plan("--progress", "plain", "http://h/f").options.progress == .plain)
    }

    @Test(arguments: [
        ("-I", "--dry-run"), ("-T", "--timeout"), ("--tries", "--retries"), ("-u", "--user"), ("--spider", "--dry-run"),
        ("--output-document", "-o FILE"), ("-A", "-U TEXT"), ("-n", ".netrc"), ("-Z", "-j N"),
        ("--max-time", "timeout S pawl"), ("-m", "timeout S pawl"), ("-r", "--range"), ("-g", "URLs"),
        ("--http-user", "--user"), ("--daemon", "pawl add"), ("--max-download-limit", "--limit-rate"),
        ("--http-proxy", "--proxy URL"), ("--socks5", "--proxy URL"), ("--proxy-user", "USER:PASSWORD@"),
        ("--retry-wait", "--retry-delay"), ("--netrc-path", "--netrc=FILE"),
        ("--check-certificate=false", "--insecure"), ("--output-dir", "-d DIR"),
    ]) func `what cannot be gets one line with Pawl's word`(option: String, word: String) throws {
        let text = try refusal(option, "http://h/f")
        #expect(text.contains(word) && !text.contains("\n"), "\(text)")
    }

    @Test(arguments: [
        (["-v"], "pawl get -v"), (["--dry-run"], "pawl get --dry-run"), (["-j", "4"], "pawl slots"),
        (["--progress", "plain"], "pawl list --watch"), (["--stdout"], "pawl get -o -"),
    ]) func `add hints at the command that has the option`(words: [String], hint: String) throws {
        let failure = #expect(throws: Failure.self) {
            var options = AddOptions()
            _ = try OptionParser(AddOptions.table, command: "add").parse(words + ["http://h/"], into: &options)
        }
        #expect(failure?.commandLineSentence.contains(hint) == true)
        var options = AddOptions()
        _ = try OptionParser(AddOptions.table, command: "add").parse(["-q"], into: &options)
        #expect(options.get.isQuiet)
    }

    @Test(arguments: [("ls", "'pawl help list'"), ("gte", "'pawl help get'"), ("xyzzy", "'pawl --help'")])
    func `help for an unknown command suggests one`(name: String, hint: String) {
        let failure = #expect(throws: Failure.self) { try help(on: name) }
        #expect(failure?.commandLineSentence.contains(hint) == true)
    }

    @Test func `the two meanings of -O are distinguished`() throws {
        #expect(try plan("-O", "http://h/f").items.count == 1)
        for words in [["-qO-"], ["-O", "-"], ["-O-"]] {
            let plan = try GetPlan(arguments: words + ["http://h/f"], readingWith: { _ in [] })
            #expect(plan.stream == .standardOutput && plan.items.count == 1, "\(words)")
        }
        let text = try refusal("-O", "name.iso.part", "http://h/f")
        #expect(text.contains("curl") && text.contains("wget") && text.contains("-o name.iso.part"), "\(text)")
        #expect(try refusal("-C", "100", "http://h/f").contains("--range"))
        #expect(try refusal("-x", "http://p:3128", "http://h/f").contains("--proxy"))
    }

    @Test(arguments: [
        ("example.com/f", true), ("example.com", true), ("localhost/f", true), ("h:8080/f", true),
        ("127.0.0.1:80/f", true), ("[::1]:80/f", true), ("例子.测试/f", true), ("h/f", false), ("magnet:?xt=urn", false),
        ("http://h/f", false), ("/etc/passwd", false), ("./f.txt", false), ("", false), (".", false), ("a b.c", false),
        ("h:/f", false), ("mailto:me@example.com", false), ("u:pw@h.org/f", true), ("u@127.0.0.1:80/f", true),
        ("u:p@w@localhost", true), ("u:pw@[::1]/f", true), ("@h.org/f", false), ("u:pw@h/f", false),
        ("sip:me@example.com", false), ("h:99999999/f", false), ("data:text/plain,x", false),
    ]) func `a URL without a scheme is one with a host name`(word: String, isAddress: Bool) {
        #expect(BareAddress.hasNoScheme(word) == isAddress)
    }

    @Test func `the scheme is determined once per host, and mirrors get one too`() throws {
        var guessed: [String] = []
        let plan = try GetPlan(
            arguments: ["-i", "list"],
            readingWith: { _ in Array("example.com/a\texample.org/a\nexample.com/b\nftp://h/c\n".utf8) },
            guessingWith: { source, _, _ in
                guessed.append(source)
                return source.hasPrefix("example.org") ? "http" : "https"
            })
        #expect(plan.items.map(\.source) == ["https://example.com/a", "https://example.com/b", "ftp://h/c"])
        #expect(plan.items[0].mirrors == ["http://example.org/a"])
        #expect(guessed == ["example.com/a", "example.org/a"])
    }

    @Test func `a URL is enough of a command`() {
        #expect(BareAddress.begins(["http://h/f"][...]))
        #expect(BareAddress.begins(["example.com/f", "-q"][...]))
        #expect(BareAddress.begins(["-o", "x", "http://h/f"][...]))
        #expect(BareAddress.begins(["-q", "example.com/f"][...]))
        #expect(BareAddress.begins(["-i", "list"][...]))
        #expect(BareAddress.begins(["-j", "5", "--input-file=list"][...]))
        // The failure of `get` names the schemes.
        #expect(BareAddress.begins(["magnet:?xt=urn:btih:a"][...]))
        #expect(!BareAddress.begins(["-o", "name.iso"][...]))
        #expect(!BareAddress.begins(["gte", "http://h/f"][...]))
        #expect(!BareAddress.begins(["--verison"][...]))
        #expect(!BareAddress.begins([][...]))
    }

    @Test(arguments: [
        ("ls", "list"), ("rm", "remove"), ("version", "--version"), ("--verison", "--version"), ("download", "get"),
    ]) func `words of other tools name a command`(word: String, command: String) throws {
        #expect(CommandHabit.command(for: word) == command)
        let first = String(command.prefix { $0 != " " })
        #expect(Command.table.contains { $0.name == first } || first.hasPrefix("--"))
    }

    @Test func `a netrc file that others can read is left alone`() {
        #expect(NetrcPermission.isPrivate(mode: 0o100600))
        #expect(NetrcPermission.isPrivate(mode: 0o100400))
        for mode: UInt32 in [0o100640, 0o100604, 0o100620, 0o100644] { #expect(!NetrcPermission.isPrivate(mode: mode)) }
    }

    @Test func `requests are shown as curl -v shows them`() throws {
        #expect(TraceLines.lines(.response(["HTTP/1.1 200 OK", "A: b"])) == ["< HTTP/1.1 200 OK", "< A: b", "< "])
        #expect(TraceLines.lines(.verdict(isAccepted: false, status: 302)) == ["* redirected"])
        let address = try WebAddress.parse("http://h/f").address
        #expect(TraceLines.lines(.request(["GET /f HTTP/1.1\u{1B}"], to: address)).first == "> GET /f HTTP/1.1\u{FFFD}")
    }
}
