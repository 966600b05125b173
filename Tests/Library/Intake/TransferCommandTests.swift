import PawlBase
import PawlIntake
import Testing

struct TransferCommandTests {
    private func entry(_ text: String) throws -> InputEntry {
        try #require(try TransferCommand.entries(in: text).first)
    }

    private func values(_ entry: InputEntry, _ name: String) -> [String] {
        entry.options.filter { $0.name == name }.map(\.value)
    }

    private func why(_ text: String) -> String? {
        do throws(Failure) {
            _ = try TransferCommand.entries(in: text)
            return nil
        } catch { return error.description }
    }

    @Test func `what a browser copies keeps its header fields, cookies and referrer`() throws {
        let entry = try entry(
            #"""
            curl 'https://example.org/f.iso?a=1&b=2' \
              -H 'accept: */*' \
              -H 'accept-encoding: gzip, deflate, br' \
              -H $'x-note: it\'s \u0021 \x41' \
              -H 'range: bytes=0-' \
              -H 'user-agent: Mozilla/5.0 (X11)' \
              -H 'referer: https://example.org/' \
              -b 'session=abc; theme=dark' --compressed -L -sS --insecure
            """#)
        #expect(entry.addresses == ["https://example.org/f.iso?a=1&b=2"])
        #expect(values(entry, "header") == ["accept: */*", "x-note: it's ! A", "Cookie: session=abc; theme=dark"])
        #expect(values(entry, "user-agent") == ["Mozilla/5.0 (X11)"])
        #expect(values(entry, "referer") == ["https://example.org/"])
        #expect(values(entry, "insecure") == ["true"])
    }

    @Test func `the form for Windows is read`() throws {
        let entry = try entry(
            "curl ^\"https://example.org/f?a=1^&b=^%^20c^\" ^\r\n  -H ^\"x: a ^\\^\"b^\\^\" c^\" ^\r\n  -b ^\"s=1^\" --compressed"
        )
        #expect(entry.addresses == ["https://example.org/f?a=1&b=%20c"])
        #expect(values(entry, "header") == ["x: a \"b\" c", "Cookie: s=1"])
        let firefox = try self.entry("curl \"https://example.org/a?x=1&y\" ^\n  -H \"Accept: */*\" ^\n -A \"M^x\"")
        #expect(firefox.addresses == ["https://example.org/a?x=1&y"])
        #expect(values(firefox, "user-agent") == ["M^x"])
    }

    @Test func `options of curl and aria2c become those of Pawl`() throws {
        let curl = try entry(
            "$ curl -Lo name.bin -u me:pa:ss -e 'http://r/;auto' -x http://p:1 -k --limit-rate=1M http://a/b?c&d")
        #expect(curl.addresses == ["http://a/b?c&d"])
        #expect(values(curl, "output") == ["name.bin"] && values(curl, "referer") == ["http://r/"])
        #expect(values(curl, "user") == ["me"] && values(curl, "password") == ["pa:ss"])
        #expect(values(curl, "proxy") == ["http://p:1"] && values(curl, "limit-rate").isEmpty)
        let aria2 = try entry(
            "/usr/bin/aria2c -x16 -s 16 -c -d films --out=a.iso --header='Cookie: a=b' -U M http://a/1 http://b/1")
        #expect(aria2.addresses == ["http://a/1", "http://b/1"])
        #expect(values(aria2, "connections") == ["16"] && values(aria2, "dir") == ["films"])
        #expect(values(aria2, "header") == ["Cookie: a=b"] && values(aria2, "output") == ["a.iso"])
    }

    @Test func `each URL and each command is a download`() throws {
        let two = try TransferCommand.entries(
            in: "curl -H 'A: 1' -o x http://a/1 -o y http://a/2 ;\ncurl.exe http://a/3 &\n")
        #expect(two.map(\.addresses) == [["http://a/1"], ["http://a/2"], ["http://a/3"]])
        #expect(two.map { values($0, "output") } == [["x"], ["y"], []])
        #expect(values(two[2], "header").isEmpty)
    }

    @Test func `names belong to URLs in their order, also those that URLs have`() throws {
        let files = try TransferCommand.entries(in: "curl -O http://a/1 -o x http://a/2 -O http://a/3")
        #expect(files.map { values($0, "output") } == [[], ["x"], []])
    }

    @Test(arguments: [
        ("http://a/{x,}[1-2]", ["http://a/x1", "http://a/x2", "http://a/1", "http://a/2"]),
        ("-g http://a/{x,y}[1-2]", ["http://a/{x,y}[1-2]"]),
        ("http://a/f --globoff -L --url http://a/[1-2]", ["http://a/f", "http://a/[1-2]"]),
        ("http://a/[008-010:2].jpg", ["http://a/008.jpg", "http://a/010.jpg"]),
        ("http://a/[b-c]", ["http://a/b", "http://a/c"]),
        (#"'http://a/\[1-2\]\{x\}\y'"#, [#"http://a/[1-2]{x}\y"#]), ("http://a/?x[]=1", ["http://a/?x[]=1"]),
        ("http://[::1]:80/{a,b}", ["http://[::1]:80/a", "http://[::1]:80/b"]),
        ("-G -d q=[1-2] a.example/[1-2]", ["http://a.example/1?q=[1-2]", "http://a.example/2?q=[1-2]"]),
    ]) func `curl's patterns in URLs are expanded as curl does`(arguments: String, urls: [String]) throws {
        let entries = try TransferCommand.entries(in: "curl \(arguments)")
        #expect(entries.map(\.addresses) == urls.map { [$0] })
        #expect(
            try TransferCommand.entries(in: "wget 'http://a/{x,y}[1-2]'").map(\.addresses) == [["http://a/{x,y}[1-2]"]])
    }

    @Test func `each URL of a pattern has its file, by the numbers of its parts`() throws {
        let entries = try TransferCommand.entries(in: "curl 'http://a/{x,y}/[1-2]' -o '#1-#2#3.#' http://a/z -o z")
        #expect(entries.map { values($0, "output") } == [["x-1#3.#"], ["x-2#3.#"], ["y-1#3.#"], ["y-2#3.#"], ["z"]])
        let named = try TransferCommand.entries(in: "curl -O 'http://a/[1-2]' -o z http://a/z")
        #expect(named.map { values($0, "output") } == [[], [], ["z"]])
    }

    @Test func `values without a limit are left out, and tries are one more than retries`() throws {
        for command in ["curl --connect-timeout 0 --max-redirs -1 http://a/", "aria2c -t 0 http://a/"] {
            #expect(try entry(command).options.isEmpty, "\(command)")
        }
        for (tries, retries) in [("1", "0"), ("6", "5"), ("0", "1000000")] {
            #expect(values(try entry("aria2c -m \(tries) http://a/"), "retries") == [retries])
        }
        #expect(try entry("curl -H 'Host: a.example' http://a.example/").options.isEmpty)
    }

    @Test(arguments: [
        ("curl -G http://a/f -d x=1 -d 'y=a b'", "http://a/f?x=1&y=a%20b"),
        ("curl -Gd x=1 'http://a/f?q=0#part'", "http://a/f?q=0&x=1#part"),
        ("curl --get --data-urlencode 'q=a&b c/é' --data-raw @x http://a/", "http://a/?q=a%26b%20c%2F%C3%A9&@x"),
        ("curl -G --data-urlencode '=a=b' --data-urlencode c+d http://a/?", "http://a/?a%3Db&c%2Bd"),
        ("curl --url-query 'a=1 2' --url-query '+b=%41' http://a/", "http://a/?a=1%202&b=%41"),
        ("curl -G http://a/f", "http://a/f"), ("curl -G -d '' http://a/f", "http://a/f"),
        ("curl a.example/f", "http://a.example/f"), ("wget ftp.a.example/f", "ftp://ftp.a.example/f"),
    ]) func `data that curl appends to the query is appended`(command: String, url: String) throws {
        #expect(try entry(command).addresses == [url])
    }

    @Test func `options of wget become those of Pawl`() throws {
        let one = try entry(
            "wget -c -nv --header='X: 1' --header 'Cookie: a=b' -O out.bin -P dir -U M -t 3 --no-check-certificate http://a/f"
        )
        #expect(one.addresses == ["http://a/f"] && values(one, "header") == ["X: 1", "Cookie: a=b"])
        #expect(values(one, "output") == ["out.bin"] && values(one, "dir") == ["dir"])
        #expect(values(one, "retries") == ["2"] && values(one, "insecure") == ["true"])
        #expect(values(try entry("wget --tries=inf http://a/"), "retries") == ["1000000"])
        let two = try TransferCommand.entries(in: "wget -q http://a/1 http://a/2")
        #expect(two.map(\.addresses) == [["http://a/1"], ["http://a/2"]])
    }

    @Test(arguments: [
        ("curl -H 'Host: other' http://a/", "another host"), ("curl -H @file http://a/", "it reads a file"),
        ("curl http://a/ --data-raw 'x=1'", "it sends a body"), ("curl -X POST http://a/", "Pawl only sends GET"),
        ("curl -F f=@x http://a/", "it sends a body"), ("curl -I http://a/", "header section only"),
        ("curl http://a/ | sh", "| is an operator of the shell"), ("curl http://a/ > f", "> is an operator"),
        ("curl 'http://a/", "a quote is not closed"), ("curl -H \"A: $TOKEN\" http://a/", "it contains a variable"),
        ("curl http://a/$(date)", "it contains a variable"), ("curl -H", "it needs a value"),
        ("curl -L", "the command has no URL"), ("curl --unheard-of http://a/", "no equivalent"),
        ("curl http://a/; rm -r x", "neither curl nor aria2c"), ("aria2c -T x.torrent", "torrents are not supported"),
        ("curl -d x=1 http://a/", "it sends a body"), ("curl -G -d @f http://a/", "it reads a file"),
        ("curl -G --data-urlencode n@f http://a/", "it reads a file"),
        ("curl -G --json {} http://a/", "it sends a body"), ("wget -r http://a/", "it follows the links"),
        ("wget --post-data=x http://a/", "it sends a body"),
        ("wget -O x http://a/1 http://a/2", "several files into one"), ("wget -i list", "it reads a file"),
        ("curl 'http://a/[1-2]' -o x", "several files into one"), ("curl 'http://a/[2-1]'", "curl cannot expand"),
        ("curl 'http://a/{}'", "curl cannot expand"), ("curl 'http://a/x}'", "add --globoff"),
        ("curl is http://a/", "is: it is no URL"), ("aria2c a.example/f", "it is no URL"),
    ]) func `what is more than a download is refused with the reason`(command: String, reason: String) {
        #expect(why(command)?.contains(reason) == true, "\(why(command) ?? "taken")")
    }

    @Test func `GET is no other method, and only commands are commands`() throws {
        #expect(try entry("curl -X GET http://a/").addresses == ["http://a/"])
        #expect(TransferCommand.isCommand("  $ curl http://a/") && TransferCommand.isCommand("/bin/curl.exe x"))
        #expect(!TransferCommand.isCommand("curl") && !TransferCommand.isCommand("http://curl /x"))
    }
}
