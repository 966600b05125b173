import PawlBase
import Testing

@testable import PawlHub

@Suite struct HubAddressTests {
    private static let commit = String(repeating: "0a", count: 20)

    @Test(arguments: [
        ("hf://org/name", HubAddress(.models, "org/name")),
        ("hf://org/name/", HubAddress(.models, "org/name")),
        ("HF://org/name@v1.0/a/b c?.bin", HubAddress(.models, "org/name", revision: "v1.0", path: "a/b c?.bin")),
        ("hf://datasets/org/name", HubAddress(.datasets, "org/name")),
        ("hf://spaces/org/name/app.py", HubAddress(.spaces, "org/name", path: "app.py")),
        ("hf://models/org/name@a%2Fb/x", HubAddress(.models, "org/name", revision: "a/b", path: "x")),
        ("hf://org/name@refs/pr/3/x", HubAddress(.models, "org/name", revision: "refs/pr/3", path: "x")),
        ("hf://org/name@refs%2Fpr%2F3/x", HubAddress(.models, "org/name", revision: "refs/pr/3", path: "x")),
        ("hf://datasets/o/n@refs/convert/parquet", HubAddress(.datasets, "o/n", revision: "refs/convert/parquet")),
        ("hf://gpt2", HubAddress(.models, "gpt2")),
        ("hf://models/gpt2@main/config.json", HubAddress(.models, "gpt2", revision: "main", path: "config.json")),
        ("hf://org/name/at@sign", HubAddress(.models, "org/name", path: "at@sign")),
    ])
    func `an address names a repository, a revision and a path`(_ text: String, _ expected: HubAddress) throws {
        let address = try HubAddress(text)
        #expect(address == expected)
        var pinned = address
        pinned.revision = Self.commit
        #expect(try HubAddress(pinned.text) == pinned)
        // The kernel's grammar of located addresses keeps it, too.
        #expect(try HubAddress(WebAddress.parse(pinned.text).address.text) == pinned)
    }

    @Test(arguments: [
        "hf://", "hf:///name", "hf://org/na me", "hf://../name", "hf://org/..", "hf://org/a--b", "hf://org/name/../x",
        "hf://org/name//x", "hf://org/name@/x", "hf://org/name@..%2F..%2Fx/y", "hf://org/name@%00/y",
        "hf://org/name@%ff/y",
        "hf://buckets/org/name", "hf://-org/name", "hf://org/name/\u{1}", "https://huggingface.co/org/name",
    ])
    func `what names no repository is refused with code 28`(_ text: String) {
        #expect { try HubAddress(text) } throws: { ($0 as? Failure)?.code == .badOption }
    }

    @Test func `pages of the hub mean the same, and URLs of files and other hosts do not`() {
        let endpoint = HubAccess.usualEndpoint
        func page(_ text: String) -> HubAddress? { HubAddress(page: text, of: endpoint) }
        #expect(
            page("https://huggingface.co/org/name/tree/main/sub%20x")
                == HubAddress(.models, "org/name", revision: "main", path: "sub x"))
        #expect(
            page("https://huggingface.co/datasets/org/name/blob/a%2Fb/f.csv?download=true")
                == HubAddress(.datasets, "org/name", revision: "a/b", path: "f.csv"))
        #expect(page("https://huggingface.co/org/name/resolve/main/f") == nil)
        #expect(page("https://huggingface.co/org/name") == nil)
        #expect(page("https://example.org/org/name/tree/main") == nil)
        #expect(page("https://huggingface.co/a/b/c/tree/main") == nil)
        let local = WebAddress(scheme: .http, host: "localhost", port: 8080, path: "/hub/", query: nil)
        #expect(
            HubAddress(page: "http://localhost:8080/hub/o/n/tree/main", of: local)
                == HubAddress(.models, "o/n", revision: "main"))
    }

    @Test func `a file is requested by its commit, percent-encoded, from the endpoint`() throws {
        var access = HubAccess(endpoint: WebAddress(scheme: .http, host: "h", port: 80, path: "/x/", query: nil))
        access.token = "secret"
        let address = try WebAddress.parse("hf://datasets/o/n@\(Self.commit)/a b/c?d#e").address
        let url = access.location(of: address)
        #expect(url.text == "http://h/x/datasets/o/n/resolve/\(Self.commit)/a%20b/c%3Fd%23e")
        #expect(access.lines(to: url) == ["Authorization: Bearer secret"])
        let other = WebAddress(scheme: .http, host: "cdn", port: 80, path: "/", query: nil)
        #expect(access.lines(to: other).isEmpty)
    }

    @Test func `the environment is read as the hub's own tools read it`() {
        func environment(_ values: [String: String], home: String? = "/home/u") -> HubEnvironment {
            HubEnvironment({ values[$0] }, home: home)
        }
        #expect(environment([:]).cache == "/home/u/.cache/huggingface/hub")
        #expect(environment([:]).tokenFile == "/home/u/.cache/huggingface/token")
        #expect(environment(["XDG_CACHE_HOME": "/c"]).cache == "/c/huggingface/hub")
        #expect(environment(["HF_HOME": "~/hf"]).cache == "/home/u/hf/hub")
        #expect(environment(["HF_HOME": "/hf", "HF_HUB_CACHE": "/q"]).cache == "/q")
        #expect(environment([:], home: nil).cache == nil)
        #expect(environment(["HF_TOKEN": " hf_x\n"]).token == "hf_x")
        #expect(environment(["HF_TOKEN": "", "HUGGING_FACE_HUB_TOKEN": "old"]).token == nil)
        #expect(environment(["HUGGING_FACE_HUB_TOKEN": "old"]).token == "old")
        #expect(environment(["HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"]).tokenFile == nil)
        #expect(
            environment(["TRANSFORMERS_OFFLINE": "1"]).isOffline && environment(["HF_HUB_OFFLINE": "YES"]).isOffline)
        #expect(!environment(["HF_HUB_OFFLINE": "0"]).isOffline)
        #expect(HubEnvironment.isToken("hf_abc") && !HubEnvironment.isToken("a\r\nX: y") && !HubEnvironment.isToken(""))
    }
}
