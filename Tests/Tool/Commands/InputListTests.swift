import PawlTestKit
import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlIntegrity
@testable import PawlTerminal

@Suite struct InputListTests {
    private func plan(_ text: String, _ arguments: String...) throws(Failure) -> GetPlan {
        try GetPlan(arguments: ["-i", "list"] + arguments) { (path) throws(Failure) in
            Array((path == "list" ? text : "http://other/\(path)").utf8)
        }
    }

    private func failure(_ text: String, _ arguments: String...) -> Failure? {
        do throws(Failure) {
            _ = try GetPlan(arguments: ["-i", "list"] + arguments) { _ in Array(text.utf8) }
            return nil
        } catch { return error }
    }

    @Test(arguments: EquivalentNames.pairs) func `URLs and names of other bytes are other downloads`(
        left: String, right: String
    ) throws {
        let urls = ["http://a/\(left)", "http://a/\(right)"]
        let plain = try GetPlan(arguments: urls + urls) { _ in [] }
        #expect(plain.items.map(\.source).hasSameBytes(as: urls))
        let named = try plan("http://a/1\n  out=x\(left)\nhttp://a/1\n  out=x\(right)\nhttp://a/1\n  out=x\(left)\n")
        let names = try named.items.map { item throws(Failure) in try named.downloadOptions(for: item).fileName }
        #expect(names.hasSameBytes(as: ["x\(left)", "x\(right)"]))
    }

    @Test func `a command of curl is a list and an argument, with its login`() throws {
        let command = "curl 'http://a/1' -H 'X: 1' -u me:word -b a=b -o sub/f"
        for plan in [try plan(command), try GetPlan(arguments: [command]) { _ in [] }] {
            let item = try #require(plan.items.first)
            let options = try plan.downloadOptions(for: item)
            #expect(item.source == "http://a/1" && options.headers == ["X: 1", "Cookie: a=b"])
            #expect((options.user, options.password) == ("me", "word") && options.fileName == "f")
        }
    }

    @Test func `a list in UTF-16 is read as in UTF-8`() throws {
        let text = "\u{FEFF}# é\r\nhttp://a/1\r\n  out=é.bin\r\nhttp://a/2\r\n"
        let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
        let plan = try GetPlan(arguments: ["-i", "list"]) { _ in wide }
        #expect(plan.items.map(\.source) == ["http://a/1", "http://a/2"])
        #expect(try plan.downloadOptions(for: plan.items[0]).fileName == "é.bin")
    }

    @Test func `commands between other text are a list`() throws {
        let plan = try plan("Fetch it:\n  $ wget -O x http://a/1\n  $ curl -H 'A: 1' http://a/2\n")
        #expect(plan.items.map(\.source) == ["http://a/1", "http://a/2"])
        #expect(try plan.downloadOptions(for: plan.items[0]).fileName == "x")
        #expect(try plan.downloadOptions(for: plan.items[1]).headers == ["A: 1"])
    }

    @Test func `a Metalink is recognized as a list and as an argument`() throws {
        let text = """
            <metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f.iso">
            <hash type="md5">\(String(repeating: "0", count: 32))</hash>
            <url>http://h/a</url><url>http://g/a</url></file></metalink>
            """
        for plan in [try plan(text), try GetPlan(arguments: ["f.meta4"]) { _ in Array(text.utf8) }] {
            let item = try #require(plan.items.first)
            #expect(plan.items.count == 1 && item.source == "http://h/a" && item.mirrors == ["http://g/a"])
            #expect(try plan.downloadOptions(for: item).checksum?.hasPrefix("md5=0") == true)
        }
        #expect(failure("\(String(repeating: "0", count: 64))  f\n")?.why.contains("no URLs") == true)
    }

    @Test func `option lines below a URL override the command line for that file only`() throws {
        let plan = try plan(
            """
            # a list
            http://a/1\thttp://b/1
              out=sub/one.iso
              checksum=md5=\(String(repeating: "0", count: 32))
              header=X: 1
              header=Y: 2
              connections=2

            http://a/2
              dir=elsewhere
              insecure=true
              no-remote-time=false
            http://a/3
            """, "-d", "base", "-x8", "-H", "All: 0")
        let options = try plan.items.map { item throws(Failure) in try plan.downloadOptions(for: item) }
        #expect(plan.items.map(\.source) == ["http://a/1", "http://a/2", "http://a/3"])
        #expect(options[0].mirrors == ["http://b/1"])
        #expect(options[0].headers == ["All: 0", "X: 1", "Y: 2"])
        #expect((options[0].folder, options[0].fileName, options[0].connections) == ("base/sub", "one.iso", 2))
        #expect(options[0].checksum?.hasPrefix("md5=0") == true)
        #expect((options[1].folder, options[1].verifiesPeer, options[1].keepsServerTime) == ("elsewhere", false, true))
        #expect((options[2].folder, options[2].fileName, options[2].connections) == ("base", nil, 8))
        #expect(options[2].headers == ["All: 0"])
        #expect(options[2].checksum == nil)
    }

    @Test func `URLs of the command line come first, then each list`() throws {
        let plan = try plan("http://a/1", "http://c/0", "-i", "more")
        #expect(plan.items.map(\.source) == ["http://c/0", "http://a/1", "http://other/more"])
    }

    @Test func `a wrong line is refused before anything starts, with its number`() {
        #expect(
            failure("http://a/1\n connections=99")?.commandLineSentence
                == "cannot use --connections 99 (line 2 of the input file): must be a whole number from 1 to 60")
        #expect(failure("http://a/1\n\n frob=1")?.description.contains("frob (line 3 of the input file)") == true)
        #expect(failure("http://a/1\n jobs=4")?.why == "it applies to all downloads, not to a single URL")
        #expect(failure("http://a/1\n insecure=perhaps")?.code == .badOption)
        #expect(failure("http://a/1\n out=sub/")?.code == .badOption)
        #expect(failure(" out=x\nhttp://a/1")?.code == .badOption)
    }

    /// Lists come from others too.
    @Test(arguments: ["../x", "a/../../x", "/tmp/x", "/\u{301}x", "a/\u{301}../../../x"])
    func `a name in a list does not lead out of its folder`(name: String) {
        let refused = failure("http://a/1\n dir=sub\n out=\(name)", "-d", "/base")
        #expect(refused?.code == .badOption && refused?.why == "it leads out of the folder")
        #expect(refused?.place == "--output \(name) (below line 1 of the input file)")
    }

    @Test func `who decides where requests go does not get the user's own logins with them`() throws {
        let lines = [
            "proxy=http://p:1", "resolve=a:80:192.0.2.1", "insecure=true", "cacert=/f", "no-proxy=a",
            "endpoint-url=http://e",
        ]
        for line in lines {
            let plan = try plan("http://a/1\n \(line)\nhttp://a/2\n insecure=false\n netrc=/n")
            #expect(try !plan.downloadOptions(for: plan.items[0]).usesOwnersSecrets, "\(line)")
            #expect(try plan.downloadOptions(for: plan.items[1]).usesOwnersSecrets, "\(line)")
            for file in ["netrc=/n", "load-cookies=/c", "cert=/c", "key=/k", "profile=p"] {
                let refused = failure("http://a/0\nhttp://a/1\n \(file)\n \(line)")
                let name = file.prefix { $0 != "=" }
                #expect(refused?.code == .badOption, "\(line) \(file)")
                #expect(refused?.place == "--\(name) (below line 2 of the input file)")
                #expect(failure("http://a/1\n \(line)", "--\(file)") == nil, "the user's own word")
            }
        }
    }

    @Test func `an option of a single file is refused for a list`() {
        #expect(failure("http://a/1", "-o", "f")?.code == .badOption)
        #expect(failure("http://a/1", "--mirror", "http://b/1")?.code == .badOption)
        #expect(failure("http://a/1", "--checksum", "md5=" + String(repeating: "0", count: 32))?.code == .badOption)
        #expect(failure("http://a/1", "--range", "0-9") == nil)
    }

    /// A Metalink of that many files, each of two URLs.
    private func metalink(files: Int) -> [UInt8] {
        let entries = (1...files).map { number in
            "<file name='f\(number)'><url>http://a/\(number)</url><url>http://b/\(number)</url></file>"
        }
        return Array("<metalink xmlns='urn:ietf:params:xml:ns:metalink'>\(entries.joined())</metalink>".utf8)
    }

    private func metalinkPlan(files: Int, _ arguments: String...) throws(Failure) -> GetPlan {
        let content = metalink(files: files)
        return try GetPlan(arguments: ["--metalink", "m"] + arguments) { _ in content }
    }

    @Test func `the only file of a Metalink gets the given name and further mirrors`() throws {
        let plan = try metalinkPlan(files: 1, "-o", "g", "--mirror", "http://c/1")
        let options = try plan.downloadOptions(for: plan.items[0])
        #expect(options.fileName == "g" && options.mirrors == ["http://c/1", "http://b/1"])
        let own = try metalinkPlan(files: 1)
        #expect(try own.downloadOptions(for: own.items[0]).fileName == "f1")
    }

    @Test func `what a Metalink states itself, or one of several files cannot have, is refused`() {
        let checksum = "md5=" + String(repeating: "0", count: 32)
        #expect(throws: Failure.self) { try metalinkPlan(files: 1, "--checksum", checksum) }
        #expect(throws: Failure.self) { try metalinkPlan(files: 2, "-o", "g") }
        #expect(throws: Failure.self) { try metalinkPlan(files: 2, "--mirror", "http://c/1") }
    }

    @Test func `an empty list is a failure`() { #expect(failure("# nothing\n")?.why == "it contains no URL") }
}
