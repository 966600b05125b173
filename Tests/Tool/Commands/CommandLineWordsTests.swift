import Testing

@testable import Pawl
@testable import PawlBase
@testable import PawlCommands
@testable import PawlGet
@testable import PawlServiceCommands
@testable import PawlTerminal

/// Failures in the terms of the command line.
@Suite struct CommandLineWordsTests {
    @Test(arguments: OptionID.allCases) func `an option named by a failure is an option of a command`(id: OptionID) {
        let names = GetOptions.table.flatMap(\.entry.names) + ServeOptions.table.flatMap(\.entry.names)
        #expect(names.contains { "--" + $0 == id.option }, "\(id.option)")
    }

    @Test(arguments: Command.table.map(\.name)) func `a message of a command names only options that it has`(
        name: String
    ) throws {
        let command = try #require(Command.table.first { $0.name == name })
        let (terms, names) = (CommandTerms(of: command), Set(command.options.flatMap(\.names)))
        for id in OptionID.allCases {
            let (text, isKnown) = (terms.text(of: id), names.contains(String(id.option.dropFirst(2))))
            #expect(text == (isKnown ? id.option : id.title))
            let remedy: Remedy = "use \(.option(id))"
            let words = terms.text(of: remedy).split(separator: " ").filter { $0.hasPrefix("--") }
            #expect(words.allSatisfy { names.contains(String($0.dropFirst(2))) }, "\(words)")
        }
    }

    @Test func `where private addresses are allowed by an option, it is named`() throws {
        let remedy: Remedy = "disable \(.option(.deniesPrivateAddresses)) if this is intended"
        func text(_ name: String) throws -> String {
            CommandTerms(of: try #require(Command.table.first { $0.name == name })).text(of: remedy)
        }
        #expect(try text("get") == "disable --deny-private-addresses if this is intended")
        #expect(try text("pipe") == "use --allow-private-addresses if this is intended")
        #expect(try text("verify") == "disable the blocking of private addresses if this is intended")
    }

    @Test func `a rejected option has its name on the command line, and its title elsewhere`() {
        let failure = Failure(refusing: .retries, "-1", because: "it cannot be negative")
        #expect(failure.description == "cannot use the number of retries -1: it cannot be negative")
        #expect(failure.commandLineSentence == "cannot use --retries -1: it cannot be negative")
    }

    @Test func `a URL that was given as a file has no secrets in a failure`() {
        let failure = Failure(.cannotOpen, "cannot open", at: "http://u:p@h/m?sig=x", because: "no such file")
        #expect(failure.commandLineSentence == "cannot open http://…@h/m?…: no such file")
    }

    @Test(arguments: ["Authorization Bearer abc", "X-Api-Key=abc", "Cookie abc=abc"])
    func `a header field without a colon is not repeated with its value`(line: String) throws {
        let option = try #require(DownloadOption.option(of: .header))
        var options = DownloadOptions()
        let failure = #expect(throws: Failure.self) { try option.take(line, into: &options) }
        #expect(failure?.place.contains("abc") == false, "\(failure?.description ?? "none")")
    }

    @Test func `a remedy states how to resume on the command line`() {
        let failure = Failure(
            .timeout, "cannot fetch", at: "http://h/f", because: "no data for 30 s",
            remedy: "the partial file is kept; \(.resume) to continue, or increase \(.option(.timeout))")
        let cause = "cannot fetch http://h/f: no data for 30 s; the partial file is kept; "
        #expect(failure.description == cause + "resume the download to continue, or increase the timeout")
        #expect(failure.commandLineSentence == cause + "run the same command again to continue, or increase --timeout")
    }

    @Test func `a failure that is retried needs no remedy`() {
        let error = PawlError(
            Failure(.timeout, "cannot fetch", at: "http://h/f", because: "no byte came", remedy: "\(.resume)"))
        let line = PlainText.line(Report(id: 1, source: "http://h/f", name: "f", kind: .retry(error, delay: 0.1)))
        #expect(line == "f: cannot fetch http://h/f: no byte came; retrying now")
    }

    @Test(arguments: OptionID.allCases) func `a remedy from the service names the options of the command line`(
        id: OptionID
    ) {
        let remedy: Remedy = "the partial file is kept; \(.resume) with \(.option(id)), or remove it"
        #expect(Remedy(reading: remedy.text).parts == remedy.parts)
    }

    @Test func `a title is read as a whole word only, the longest first`() {
        let text = "the ranges are wrong; correct the checksum"
        #expect(Remedy(reading: text).parts == [.text("the ranges are wrong; correct "), .option(.checksum)])
        #expect(Remedy(reading: "").isEmpty)
    }

    @Test func `a failed download of the service says which commands mend it`() throws {
        func reason(_ remedy: Remedy) throws -> String {
            let error: JSON = [
                "code": .number(24), "message": "m", "what": "cannot fetch", "place": "http://h/f", "why": "no",
                "remedy": .string(remedy.text),
            ]
            let json: JSON = ["id": "0123456789abcdef", "state": "failed", "error": error]
            let refusal = try #require(RemoteDownload(json)?.error)
            #expect(refusal.message == "cannot fetch http://h/f: " + refusal.reason)
            return refusal.reason
        }
        #expect(try reason("give \(.option(.user))") == "no; give --user ('pawl set ID' changes options)")
        #expect(try reason("free some space, then \(.resume)") == "no; free some space, then run 'pawl resume ID'")
        // Not an option of a download in the queue.
        #expect(try reason("remove \(.option(.range))") == "no; remove the range")
        #expect(
            try reason("disable \(.option(.deniesPrivateAddresses)) if this is intended")
                == "no; add it with 'pawl add' to a service without --deny-private-addresses if this is intended")
        #expect(try reason("") == "no")
    }
}
