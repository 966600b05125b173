import Testing

@testable import Pawl
@testable import PawlAria2
@testable import PawlAria2c
@testable import PawlBase
@testable import PawlServer
@testable import PawlSystem
@testable import PawlTerminal
@testable import PawlWeb

@Suite struct Aria2cOptionsTests {
    private func read(_ arguments: String...) throws -> Aria2cOptions {
        var options = Aria2cOptions()
        let parser = OptionParser(Aria2cOptions.table, command: "aria2c", acceptsPrefixes: true)
        _ = try parser.parse(arguments, into: &options)
        return options
    }

    private func target(_ url: String, _ options: Aria2cOptions) throws -> DownloadOptions {
        var download = Aria2cDownload(Aria2cEntry(addresses: [url]), common: options, order: 0)
        try download.prepare { _, _ in }
        return download.target
    }

    @Test func `a long name may be cut where it stays unique`() throws {
        #expect(
            try read("--max-connection=8", "--dry").values == ["max-connection-per-server": "8", "dry-run": "true"])
        #expect(throws: Failure.self) { try read("--max=3") }
        // A whole name is none of a longer one's beginning.
        #expect(try read("--continue").values == ["continue": "true"])
    }

    @Test func `blanks around a value are not part of it`() throws {
        #expect(try read("-o", " a b.bin ", "-s", " 16").values == ["out": "a b.bin", "split": "16"])
    }

    @Test func `a flag's value may follow its letter`() throws {
        #expect(try read("-ctrue", "-qfalse").values == ["continue": "true", "quiet": "false"])
        #expect(throws: Failure.self) { try read("-cx16") }
    }

    @Test(arguments: [
        "dscp=x", "dscp=-1", "rlimit-nofile=0", "socket-recv-buffer-size=17M", "max-mmap-limit=1G", "bt-max-peers=1M",
        "bt-tracker-timeout=601", "bt-request-peer-speed-limit=1.5", "bt-min-crypto-level=none",
    ]) func `an option without effect has valid values only`(argument: String) {
        #expect(throws: Failure.self) { try read("--" + argument) }
    }

    @Test func `an option without effect is accepted`() throws {
        _ = try read("--dscp=8", "--socket-recv-buffer-size=1M", "--bt-max-peers=0", "--max-mmap-limit=9")
    }

    @Test func `an empty value undoes what a configuration says of a file or an interface`() throws {
        let names = ["ca-certificate", "interface", "load-cookies", "private-key"]
        var configuration = Aria2cOptions()
        let lines = (names + ["input-file"]).map { "\($0)=x\n" }.joined()
        try configuration.take(configuration: Array(lines.utf8), home: "/")
        let empty = try read("--ca-certificate=", "--interface=", "--load-cookies=", "--private-key=", "--input-file=")
        let target = try target("http://x/a", empty.over(configuration))
        #expect(target == (try self.target("http://x/a", Aria2cOptions())))
        #expect(empty.over(configuration).path("input-file") == nil)
        #expect(configuration.path("input-file") == "x")
    }

    @Test func `the proxy of a protocol comes before that for all`() throws {
        let options = try read("--all-proxy=a:1", "--http-proxy=h:1", "--https-proxy=s:1", "--http-proxy-user=u")
        #expect(try target("http://x/f", options).proxy == "http://u@h:1")
        #expect(try target("https://x/f", options).proxy == "http://s:1")
        #expect(try target("ftp://x/f", options).proxy == "http://a:1")
        #expect(try target("http://x/f", try read("--https-proxy=s:1")).proxy == nil)
    }

    @Test func `IPv6 can be left out`() throws {
        #expect(try target("http://x/f", try read("--disable-ipv6=true")).ipVersion == .v4)
        #expect(try target("http://x/f", try read("--disable-ipv6=false")).ipVersion == .any)
    }

    @Test func `the name of the command line is not that of a list's downloads`() throws {
        var own = Aria2cOptions()
        own.keepToItself("out")
        #expect(own.over(try read("-o", "x", "-q"))["out"] == "")
    }

    @Test func `options are accepted in aria2c's forms and returned in its normal form`() throws {
        let options = try read(
            "-x16", "-s", "8", "--continue", "--check-certificate=false", "--header=A: 1", "--header", "B: 2", "-k1M",
            "--max-overall-download-limit=2M", "-c", "-q", "--dir=d")
        #expect(
            options.values == [
                "max-connection-per-server": "16", "split": "8", "continue": "true", "check-certificate": "false",
                "header": "A: 1\nB: 2", "min-split-size": "1048576", "max-overall-download-limit": "2097152",
                "quiet": "true", "dir": "d",
            ])
    }

    @Test func `BitTorrent's options are accepted and ignored`() throws {
        let options = try read("--seed-time=0", "--bt-save-metadata", "--enable-dht=false", "--listen-port", "1-2")
        // Clients read those back that aria2 reports.
        let reported = ["bt-save-metadata": "true", "enable-dht": "false", "listen-port": "1-2"]
        #expect(options.values == reported)
        #expect(options.passedOver == ["seed-time", "bt-save-metadata", "enable-dht", "listen-port"])
    }

    @Test(arguments: [
        ["--split=0"], ["--timeout=x"], ["--nobody"], ["-j", "0"], ["--continue=maybe"], ["--all-proxy=h:port"],
        ["--dir"], ["--select-file=x"], ["--select-file=0"], ["--select-file=1-2-3"],
    ]) func `an invalid value is refused with 28`(_ arguments: [String]) {
        let failure = #expect(throws: Failure.self) {
            var options = Aria2cOptions()
            _ = try OptionParser(Aria2cOptions.table, command: "aria2c").parse(arguments, into: &options)
        }
        #expect(failure?.code == .badOption)
    }

    @Test func `the command line takes precedence over the configuration file`() throws {
        var file = Aria2cOptions()
        let text = "# c\n\nsplit = 3\ndir=${HOME}/x\r\nnobody=1\nmax-tries=0\n"
        try file.take(configuration: Array(text.utf8), home: "/h")
        let joined = try read("--split=4").over(file)
        #expect(joined["split"] == "4" && joined["dir"] == "/h/x" && joined["max-tries"] == "0")
        #expect(joined.unknown == ["nobody=1"])
    }

    @Test func `options of one download are applied to those of get`() throws {
        let options = try read(
            "--split=5", "--max-connection-per-server=2", "--max-tries=0", "--http-user=u", "--http-passwd=p:w",
            "--http-proxy=h:1", "--check-certificate=false", "--remote-time=false", "-c", "-o", "f", "--header=A: 1")
        var download = Aria2cDownload(Aria2cEntry(addresses: ["http://h/f"]), common: options, order: 0)
        try download.prepare { _, _ in }
        var wanted = DownloadOptions()
        (wanted.fileName, wanted.folder) = ("f", download.folder)
        wanted.headers = ["A: 1"]
        (wanted.connections, wanted.retries) = (2, 1_000_000)
        (wanted.user, wanted.password) = ("u", "p:w")
        (wanted.proxy, wanted.existingFile) = ("http://h:1", .resume)
        (wanted.verifiesPeer, wanted.keepsServerTime) = (false, false)
        wanted.netrc = download.target.netrc
        #expect(download.target == wanted)
    }

    @Test(arguments: [("0", 1_000_000), ("1", 0), ("1000002", 1_000_000), ("9223372036854775807", 1_000_000)])
    func `the first of aria2's tries is no retry`(tries: String, retries: Int) throws {
        let options = try read("--max-tries=\(tries)")
        var download = Aria2cDownload(Aria2cEntry(addresses: ["http://h/f"]), common: options, order: 0)
        try download.prepare { _, _ in }
        #expect(download.target.retries == retries)
    }

    @Test func `no option is there twice, by name or letter`() {
        let names = Aria2cRow.table.map(\.option.name)
        #expect(Set(names).count == names.count)
        let letters = Aria2cRow.table.compactMap(\.short)
        #expect(Set(letters).count == letters.count)
        #expect(names.count > 180)
    }
}
