import PawlBase
import PawlGet
import Testing

struct CookieListTests {
    private func cookie(_ name: String, _ value: String, path: String = "/") -> String {
        "a.example\tFALSE\t\(path)\tFALSE\t2000000000\t\(name)\t\(value)"
    }

    private func saved(_ list: CookieList) -> [String] {
        list.text(now: UnixTime(seconds: 1_900_000_000)).split(separator: "\n").map(String.init).filter {
            !$0.hasPrefix("# ")
        }
    }

    @Test func `a change counts more than what other origins still have from the file`() {
        let file = [cookie("kept", "1"), cookie("changed", "1"), cookie("deleted", "1")]
        let now = [cookie("kept", "1"), cookie("changed", "2"), cookie("new", "1")]
        for changesFirst in [true, false] {
            var list = CookieList()
            if changesFirst { list.add(loaded: file, current: now) }
            list.add(loaded: file, current: file)
            if !changesFirst { list.add(loaded: file, current: now) }
            #expect(saved(list) == [cookie("changed", "2"), cookie("kept", "1"), cookie("new", "1")])
        }
    }

    @Test func `cookies of one name differ in domain and path`() {
        var list = CookieList()
        list.add(loaded: [], current: [cookie("id", "1"), cookie("id", "2", path: "/a")])
        list.add(loaded: [], current: [cookie("id", "3")])
        #expect(saved(list) == [cookie("id", "3"), cookie("id", "2", path: "/a")])
    }

    @Test func `a line that is no cookie is left out, and an empty value kept`() {
        var list = CookieList()
        #expect(!list.isKnown)
        list.add(loaded: ["# comment"], current: ["a\tb", cookie("empty", "")])
        #expect(list.isKnown)
        #expect(saved(list) == [cookie("empty", "")])
    }

    @Test func `a cookie that has expired is left out, one of the session kept`() {
        let expired = "a.example\tFALSE\t/\tFALSE\t1800000000\tformer\t1"
        let session = "#HttpOnly_a.example\tFALSE\t/\tFALSE\t0\tid\t2"
        var list = CookieList()
        list.add(loaded: [expired, cookie("id", "1")], current: [expired, session])
        #expect(saved(list) == [session])
    }
}
