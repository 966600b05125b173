import PawlBase
import PawlTestKit
import Testing

/// What is dropped or pasted, in the form that `pawl.add` takes.
@Suite struct ReadingMethodTests {
    private func read(_ text: String, isWide: Bool = false) async throws -> JSON {
        let bench = try await ServiceBench()
        let bytes = isWide ? "\u{FEFF}\(text)".utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] } : Array(text.utf8)
        let content = JSON.string(TestBase64.encode(bytes))
        let found = try await bench.result("pawl.read", [["name": "f", "content": content]])
        await bench.close()
        return found
    }

    @Test(arguments: [false, true]) func `an input file keeps mirrors and options, with the names of Pawl's`(
        isWide: Bool
    ) async throws {
        let sum = String(repeating: "0a", count: 32)
        let text = """
            # a list
            http://a/1\thttp://b/1
              out=sub/x.bin
              checksum=\(sum)  x.bin
              header=A: 1
              header=B: 2
              max-tries=3
              user=me:pa:ss
            http://a/2
            """
        let items = try #require(try await read(text, isWide: isWide)["items"]?.array)
        #expect(items.map { $0["url"]?.string } == ["http://a/1", "http://a/2"])
        #expect(items[0]["mirrors"]?.array?.compactMap(\.string) == ["http://b/1"])
        #expect(items[0]["folder"]?.string == "sub")
        let options = try #require(items[0]["options"])
        #expect(options["output"]?.string == "x.bin" && options["retries"]?.string == "2")
        #expect(options["header"]?.array?.compactMap(\.string) == ["A: 1", "B: 2"])
        #expect(options["user"]?.string == "me" && options["password"]?.string == "pa:ss")
        #expect(options["checksum"]?.string == "\(sum)  x.bin")
    }

    @Test func `options that nobody knows are text or an error`() async throws {
        #expect(try await read("http://a/1\n  x=1\n")["text"]?.string == "http://a/1\n  x=1\n")
        let error = try await read("http://a/1\n  out=x\n  bt-tracker=y\n")["error"]
        #expect(error?["message"]?.string?.contains("--bt-tracker") == true, "\(error?.text ?? "none")")
    }

    @Test func `commands are found in a text, and a text without any stays one`() async throws {
        let items = try await read("See:\n$ wget -O x http://a/1\n")["items"]?.array
        #expect(items?.first?["options"]?["output"]?.string == "x" && items?.count == 1)
        #expect(try await read("curl is a tool")["text"]?.string == "curl is a tool")
    }
}
