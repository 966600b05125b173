import PawlBase
import Testing

struct NamingPolicyTests {
    private func head(_ disposition: String?) -> ResponseHead {
        var head = ResponseHead(status: 200)
        head.contentDisposition = disposition
        return head
    }

    @Test(arguments: [
        ("http://h/a/b.zip", "attachment; filename=c.zip", "c.zip"),
        ("http://h/a/b.zip", "attachment; filename=\"../.x\"", "x"), ("http://h/a/b.zip", nil, "b.zip"),
        ("http://h/a/b.zip", "attachment", "b.zip"), ("http://h/a/b.zip", "attachment; filename=..", "b.zip"),
        ("http://h/", nil, "index.html"), ("http://h/", "inline; filename=\u{1}", "download"),
        ("http://h/a/", nil, "index.html"),
    ]) func `B4 the server's name comes first, then the URL's`(
        _ text: String, _ disposition: String?, _ name: String
    ) throws {
        let address = try WebAddress.parse(text).address
        #expect(NamingPolicy.choose(.server, address: address, head: head(disposition)) == name)
    }

    @Test func `without a response the URL gives the name`() throws {
        let address = try WebAddress.parse("http://h/b%20c.zip?x").address
        #expect(NamingPolicy.choose(.server, address: address, head: nil) == "b c.zip")
    }

    @Test(arguments: [
        ("http://h/a/b.zip?c.zip", "b.zip"), ("http://h", "index.html"), ("http://h/a%2F..%2Fb", "b"),
        ("http://h/%2E%2E%2F", "download"), ("http://h/.hidden", "hidden"), ("http://h/%00%0A", "download"),
        ("http://h/-rf", "rf"), ("http://h/caf%E9.txt", "caf\u{E9}.txt"), ("ftp://h/a.txt;type=i", "a.txt"),
    ]) func `D18 names from URLs never contain a slash`(_ text: String, _ name: String) throws {
        let address = try WebAddress.parse(text).address
        #expect(NamingPolicy.choose(.url, address: address, head: head("attachment; filename=other")) == name)
    }

    @Test(arguments: [
        ("http://h/.bashrc", ".bashrc"), ("http://h/-rf", "-rf"), ("http://h/a%5Cb", "a\\b"), ("http://h/...", "..."),
        ("http://h/%20a%20", " a "), ("http://h/a%2F.b", "b"), ("http://h/%2E%2E%2F", "download"),
        ("http://h/%00.x", "x"), ("http://h/a%0Ab", "ab"), ("http://h/%E2%80%AEgpj.exe", "gpj.exe"),
        ("http://h/%20", "download"),
        ("http://h/." + String(repeating: "a", count: 300) + ".zip", "." + String(repeating: "a", count: 250) + ".zip"),
    ]) func `the name in a URL that the user gave is kept where a file can have it`(
        _ text: String, _ name: String
    ) throws {
        let address = try WebAddress.parse(text).address
        let policies: [NamingPolicy] = [.url, .server]
        for policy in policies {
            #expect(NamingPolicy.choose(policy, address: address, head: nil, given: [address]) == name)
        }
        // A redirect's is made safe, unless its target has the name that the user gave.
        let other = try WebAddress.parse("http://other/x").address
        let redirected = NamingPolicy.choose(.url, address: address, head: nil, given: [other])
        #expect(FileName.safe(redirected) == redirected && !redirected.hasPrefix("."))
        var moved = address
        moved.path = "/elsewhere" + address.path
        #expect(NamingPolicy.choose(.url, address: moved, head: nil, given: [address]) == name)
    }

    @Test(arguments: [
        ("https://h.example/a/b.tar.gz?sig=1", "63c2b49a55a6b5eb3ba2b31008ae3261.tar.gz"),
        ("https://h.example/a/b.tar.gz?sig=2", "63c2b49a52a6b5eb3ba2b31008ae2eb0.tar.gz"),
        ("http://h/", "102ec8fd5605ecaac4532dcd7cb863b2"), ("http://h/v.mp4", "b201933f673a11ff5bd73b00ccf9803d.mp4"),
    ]) func `C1 a hash of the URL is a name, with the extension kept`(_ text: String, _ name: String) throws {
        let address = try WebAddress.parse(text).address
        #expect(NamingPolicy.choose(.hash, address: address, head: head("attachment; filename=other.iso")) == name)
    }
}
