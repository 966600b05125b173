import PawlTestKit
import Testing

@testable import PawlBase
@testable import PawlCore
@testable import PawlGet
@testable import PawlIntegrity
@testable import PawlJournal
@testable import PawlPipe
@testable import PawlQueue
@testable import PawlS3
@testable import PawlSystem

/// Names that are only canonically equivalent are different ones in every value and table of names.
@Suite struct BytewiseTests {
    /// Whether the values that `make` makes of the names differ, and those of one name are equal.
    private func differ<Value: Hashable>(_ pair: (String, String), _ make: (String) throws -> Value) rethrows -> Bool {
        let values = (try make(pair.0), try make(pair.1))
        let again = try make(String(decoding: Array(pair.0.utf8), as: UTF8.self))
        return values.0 != values.1 && Set([values.0, values.1]).count == 2 && Set([values.0, again]).count == 1
    }

    @Test(arguments: EquivalentNames.pairs) func `the law of every value with names`(left: String, right: String) throws
    {
        let pair = (left, right)
        #expect(left == right, "Swift takes them for one")
        #expect(differ(pair) { Bytewise($0) } && differ(pair) { Bytewise([$0, "b"]) })
        #expect(differ(pair) { Bytewise(Optional($0)) } && Bytewise(Optional(left)) != Bytewise(nil))
        #expect(try differ(pair) { try WebAddress.parse("s3://bucket/\($0)").address })
        #expect(try differ(pair) { try WebAddress.parse("http://a.example/\($0)").address })
        #expect(differ(pair) { EntityTag(opaque: $0, isWeak: false) })
        #expect(differ(pair) { Credentials(user: "u", password: $0) })
        #expect(differ(pair) { JournalFacts(sources: ["http://a.example/"], name: $0) })
        #expect(differ(pair) { JournalFacts(sources: ["s3://bucket/\($0)"], name: "a") })
        #expect(differ(pair) { GroupID($0) })
        #expect(
            try differ(pair) { name in
                let line = PipeLines.Line(number: 1, bytes: Array("http://a.example/\(name)".utf8))
                return try PipeJob.parse(line).get().request
            })
        let known: Set = [Bytewise(left)]
        #expect(!known.contains(Bytewise(right)) && ["a", left].containsBytes(of: left))
        #expect(![left].containsBytes(of: right))
        #expect((Bytewise(left) < Bytewise(right)) != (Bytewise(right) < Bytewise(left)))
    }

    @Test(arguments: EquivalentNames.pairs) func `evidence of one source says nothing about another`(
        left: String, right: String
    ) {
        var content = Representation(total: 1)
        let tag = Validators(entityTag: EntityTag(opaque: "1", isWeak: false), lastModified: nil, date: nil)
        content.prove("s3://bucket/\(left)", at: "s3://bucket", tag)
        #expect(content.record(of: "s3://bucket/\(left)", at: "s3://bucket") != nil)
        #expect(content.record(of: "s3://bucket/\(right)", at: "s3://bucket") == nil)
        content.prove("s3://bucket/\(right)", at: "s3://bucket", tag)
        #expect(content.records.count == 2)
    }

    @Test(arguments: EquivalentNames.pairs)
    func `a Metalink may list both, and a profile of each name has its own settings`(left: String, right: String) throws
    {
        func file(_ name: String) -> String {
            "<file name=\"\(name)\"><url>http://a.example/\(name == left ? 1 : 2)</url></file>"
        }
        let text = "<metalink xmlns=\"urn:ietf:params:xml:ns:metalink\">\(file(left))\(file(right))</metalink>"
        let metalink = try Metalink(Array(text.utf8))
        #expect(metalink.files.map { Bytewise($0.name) } == [Bytewise(left), Bytewise(right)])
        #expect(throws: Metalink.Fault.self) { try Metalink(Array(text.replacing(file(right), with: file(left)).utf8)) }
        let profiles = AWSProfileFile(Array("[x\(left)]\nregion=a\n[x\(right)]\nregion=b\n".utf8))
        #expect(profiles["x\(left)"] == ["region": "a"] && profiles["x\(right)"] == ["region": "b"])
    }

    @Test(arguments: EquivalentNames.pairs) func `cookies of equivalent paths and values are different ones`(
        left: String, right: String
    ) {
        func cookie(_ path: String, _ value: String) -> String {
            "a.example\tFALSE\t/\(path)\tFALSE\t2000000000\tid\t\(value)"
        }
        var list = CookieList()
        list.add(loaded: [], current: [cookie(left, "1"), cookie(right, "2")])
        #expect(list.text(now: UnixTime(seconds: 1)).split(separator: "\n").count == 3)
        var changed = CookieList()
        changed.add(loaded: [cookie("", left)], current: [cookie("", right)])
        #expect(changed.text(now: UnixTime(seconds: 1)).utf8.contains(sequence: right.utf8))
    }

    @Test func `beginnings and endings are bytes`() {
        #expect("a/\u{301}b".beginsWithBytes(of: "a/") && "a/\u{301}b".afterBytes(of: "a/") == "\u{301}b")
        #expect("e\u{301}/x".afterBytes(of: "\u{E9}/") == nil && "x\u{301}.part".endsWithBytes(of: ".part"))
        #expect(!"x\u{212A}".endsWithBytes(of: "K") && !"b".endsWithBytes(of: "abc"))
        #expect("/\u{301}x".isAbsolutePath && !"x/".isAbsolutePath)
    }
}

extension Sequence<UInt8> {
    fileprivate func contains(sequence: some Collection<UInt8>) -> Bool {
        let all = Array(self)
        return all.indices.contains { all[$0...].starts(with: sequence) }
    }
}
