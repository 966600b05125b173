import PawlBase
import PawlCollections
import Testing

struct RobotsRulesTests {
    private func rules(_ text: String) -> RobotsRules { RobotsRules(parsing: Array(text.utf8)) }

    @Test(arguments: [
        ("User-agent: *\nDisallow: /", "/a", false), ("User-agent: *\nDisallow:", "/a", true),
        ("User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true),
        ("User-agent: *\nDisallow: /a\nAllow: /a", "/a", true), ("User-agent: *\nDisallow: /*.gif$", "/x.gif", false),
        ("User-agent: *\nDisallow: /*.gif$", "/x.gif?y", true), ("User-agent: *\nDisallow: /a*b*c", "/a1b2c3", false),
        ("User-agent: other\nDisallow: /\n\nUser-agent: PAWL/2.0\nDisallow: /p", "/q", true),
        ("User-agent: *\nDisallow: /\n\nUser-agent: pawl\nUser-agent: x\nAllow: /", "/q", true),
        ("User-agent: x\nUser-agent: pawl\nDisallow: /p # why\n", "/p1", false),
        ("User-agent: *\nDisallow: /%7Ea", "/~a", false), ("User-agent: *\nDisallow: /ü", "/%C3%BC", false),
        ("\u{FEFF}user-agent:*\r\ndisallow:/a\r", "/a", false), ("Disallow: /", "/a", true),
        ("User-agent: *\nDisallow: /a-%2A.html", "/a-*.html", false),
        ("User-agent: *\nDisallow: /a-%2A.html", "/a-b.html", true), ("User-agent: *\nDisallow: /a%24", "/a$b", false),
        ("User-agent: *\nDisallow: /a%24", "/a", true), ("User-agent: *\nDisallow: /a$b", "/a$bc", false),
        ("User-agent: *\nDisallow: /*$", "/%24", false),
        ("User-agent: *\nDisallow: /a?b=c://d", "/a?b=c%3A%2F%2Fd", false),
        ("User-agent: *\nDisallow: /%25", "/%", true), ("User-agent: *\nDisallow: /a%", "/a%", false),
        ("<html>", "/a", true), ("User-agent: *\nDisallow: /", "/robots.txt", true),
        ("User-agent: pawlx\nDisallow: /", "/", true),
    ]) func `the longest rule of the own group counts`(text: String, path: String, isAllowed: Bool) {
        #expect(rules(text).allows(path) == isAllowed)
    }

    @Test func `patterns match what a search through all possibilities finds`() {
        func matches(_ pattern: Substring, _ path: Substring) -> Bool {
            guard let first = pattern.first else { return true }
            if first == "$", pattern.count == 1 { return path.isEmpty }
            if first == "*" {
                return matches(pattern.dropFirst(), path) || !path.isEmpty && matches(pattern, path.dropFirst())
            }
            return path.first == first && matches(pattern.dropFirst(), path.dropFirst())
        }
        var dice = Dice(seed: 3)
        func text(_ characters: [String], _ count: Int) -> String {
            (0..<count).map { _ in characters[Int(dice.next() % UInt64(characters.count))] }.joined()
        }
        for round in 0..<4000 {
            let pattern = "/" + text(["a", "b", "*"], round % 7) + (round % 3 == 0 ? "$" : "")
            let path = "/" + text(["a", "b"], Int(dice.next() % 9))
            let allows = rules("User-agent: *\nDisallow: \(pattern)").allows(path)
            #expect(allows == !matches(pattern[...], path[...]), "\(pattern) and \(path)")
        }
    }

    @Test func `a status says that there are no rules, but not that of a proxy or a server that failed`() {
        let missing = [200, 204, 205, 301, 400, 401, 403, 404, 407, 410, 429, 451, 500, 503].filter {
            RobotsRules.isMissing(status: $0)
        }
        #expect(missing == [204, 205, 400, 401, 403, 404, 410, 429, 451])
    }

    @Test func `hostile rules and paths take linear time`() {
        let word = String(repeating: "a", count: 2000)
        let text = (0..<50).map { "Disallow: /*\(word)b\($0)\n" }.joined()
        #expect(rules("User-agent: *\n" + text).allows("/" + String(repeating: "a", count: 20_000)))
    }

    @Test func `a line that the limit cuts is left out`() {
        let start = "User-agent: *\nAllow: /open\n#"
        let comment = String(repeating: "x", count: RobotsRules.limit - start.utf8.count - "\nDisallow: /".utf8.count)
        let text = start + comment + "\nDisallow: /"
        #expect(text.utf8.count == RobotsRules.limit)
        #expect(rules(text + "secret").allows("/a"))
        #expect(rules(text).allows("/a"), "the rest was not received")
        #expect(!rules("User-agent: *\nDisallow: /").allows("/a"), "a short file may end without a line feed")
    }

    @Test func `a group's delay is read, and absurd ones are cut`() {
        #expect(rules("User-agent: *\nCrawl-delay: 1.5").delay == .seconds(1.5))
        #expect(rules("User-agent: *\nCrawl-delay: 1e9").delay == .seconds(3600))
        #expect(rules("User-agent: *\nCrawl-delay: -1\nCrawl-delay: nan").delay == nil)
    }

    @Test func `the tag none means noindex and nofollow`() {
        #expect(RobotsTags.tags(in: ["None"]) == ["none", "noindex", "nofollow"])
    }

    @Test func `tags for other agents do not count`() {
        #expect(RobotsTags.tags(in: ["noindex, NoAI", "googlebot: nofollow"]) == ["noindex", "noai"])
        #expect(RobotsTags.tags(in: ["pawl: noai, noimageai"]) == ["noai", "noimageai"])
        #expect(RobotsTags.tags(in: ["otherbot: none"]).isEmpty)
        #expect(RobotsTags.tags(in: ["unavailable_after: 25 Jun 2027 15:00:00 PST"]).contains("noai") == false)
    }
}
