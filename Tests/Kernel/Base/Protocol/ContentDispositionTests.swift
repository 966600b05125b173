import PawlBase
import PawlTestKit
import Testing

struct ContentDispositionTests {
    @Test(arguments: [
        ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a.txt\"", "a.txt"),
        ("inline; filename=\"a.txt\"", "a.txt"), ("ATTACHMENT; FILENAME=a.txt", "a.txt"),
        ("attachment;filename=a.txt;size=1", "a.txt"), ("attachment; filename = a.txt", "a.txt"),
        ("attachment; filename =\"a.txt\" ; size=1", "a.txt"), ("form-data; name=\"x\"; filename=\"a.txt\"", "a.txt"),
        ("attachment; size=1; filename=a.txt", "a.txt"), (";;; filename=a.txt ;;", "a.txt"),
        ("filename=a.txt", "a.txt"), ("filename=\"a.txt\"", "a.txt"), ("attachment filename=a.txt", "a.txt"),
        ("attachment filename=\"a b.txt\"", "a b.txt"), ("\"attachment\"; filename=a.txt", "a.txt"),
        ("attachment; filename=my file (1).txt", "my file (1).txt"), ("attachment; filename=a,b.txt", "a,b.txt"),
        ("attachment; filename=a=b.txt", "a=b.txt"), ("attachment; filename='a.txt'", "'a.txt'"),
        ("attachment; filename=\"a;b.txt\"; size=1", "a;b.txt"),
        ("attachment; filename=\"a=b;c=d.txt\"", "a=b;c=d.txt"),
        ("attachment; x=\"; filename=bad.txt\"; filename=good.txt", "good.txt"),
        ("attachment; filename=\"\\\"q\\\" a.txt\"", "\"q\" a.txt"), ("attachment; filename=\"a\\\\b.txt\"", "b.txt"),
        ("attachment; filename=a.txt; filename=b.txt", "a.txt"), ("attachment; filename=\"\"; filename=b.txt", "b.txt"),
        ("attachment; filename=; filename=b.txt", "b.txt"), ("attachment; filename=\"a.txt", "a.txt"),
        ("attachment; filename=\"a.txt; size=10", "a.txt"), ("attachment; filename=\"a; b.txt", "a; b.txt"),
        ("attachment; filename=\"a; b.txt; size=3", "a; b.txt"), ("attachment; filename=\"a;", "a;"),
        ("attachment; filename=a.txt\"", "a.txt"), ("attachment; filename=\"a.txt\".bak; size=1", "a.txt"),
        ("attachment; filename=\"a.txt\" x=y; z", "a.txt"), ("attachment; filename=\"C:\\dir\\", "dir"),
        ("attachment; filename=\"f\\oo\"", "foo"), ("attachment; filename=\"f\\oo.\\html\"", "foo.html"),
        ("attachment; filename=\"\\\\server\\share\\a.txt\"", "a.txt"),
        ("attachment; filename=\"a\\;b.txt\"; x=y", "a;b.txt"),
        ("\"attachment; filename=bad.txt\"; filename=good.txt", "good.txt"),
        ("attachment; filename=\"a; filename=b.txt\"", "a; filename=b.txt"),
        ("attachment; x=\"\\\"; filename=bad.txt\"; filename=good.txt", "good.txt"),
        ("attachment; a=\"b\" \"; filename=bad.txt\"; filename=good.txt", "good.txt"),
        ("attachment; a\"b; filename=good.txt", "good.txt"),
    ]) func `the plain forms are parsed, valid and broken`(_ field: String, _ name: String) {
        #expect(ContentDisposition.fileName(from: field) == name)
    }

    @Test(arguments: [
        ("attachment; filename*=UTF-8''na%C3%AFve%20plan.txt", "naïve plan.txt"),
        ("attachment; filename*=utf-8'en'a.txt", "a.txt"), ("attachment; FileName*=UTF-8''a.txt", "a.txt"),
        ("attachment; filename*=ISO-8859-1''%A3%20rates.txt", "£ rates.txt"),
        ("attachment; filename*=us-ascii''a.txt", "a.txt"),
        ("attachment; filename=\"EURO.txt\"; filename*=utf-8''%e2%82%ac.txt", "€.txt"),
        ("attachment; filename*=utf-8''%e2%82%ac.txt; filename=\"EURO.txt\"", "€.txt"),
        ("attachment; filename*=\"UTF-8''a%20b.txt\"", "a b.txt"), ("attachment; filename*=UTF-8''日.txt", "日.txt"),
        ("attachment; filename*=UTF-8''it's.txt", "it's.txt"), ("attachment; filename* = UTF-8''a.txt", "a.txt"),
        ("attachment; filename*=UTF-8''a.txt; filename*=UTF-8''b.txt", "a.txt"),
        ("attachment; filename*=UTF-8''%zz; filename*=UTF-8''b.txt", "b.txt"),
        // Invalid ones leave the plain name.
        ("attachment; filename*=UTF-8''a%2; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''%FF.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*=GBK''%C4%E3.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''..; filename=b.txt", "b.txt"),
        ("attachment; filename*=a%20c.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*; filename=b.txt", "b.txt"), ("attachment; filename*0=x.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8'a%20c.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''日.txt; filename=b.txt", "b.txt"),
        ("attachment; filename*=UTF-8''a c.txt; filename=b.txt", "b.txt"),
        ("attachment; filename=b.txt; filename*=\"UTF-8''a%20c.txt", "b.txt"),
        // Without a plain name, text without a charset is better than none.
        ("attachment; filename*=a%20c.txt", "a c.txt"), ("attachment; filename*=\"a c.txt\"", "a c.txt"),
        // Without its asterisk.
        ("attachment; filename=UTF-8''a%20c.txt", "a c.txt"),
        ("attachment; filename=\"utf-8''%E6%97%A5.txt\"", "日.txt"),
    ]) func `the extended form wins if it can be decoded`(_ field: String, _ name: String) {
        #expect(ContentDisposition.fileName(from: field) == name)
    }

    @Test(arguments: [
        ("attachment; filename=\"=?UTF-8?B?5pel5pys6KqeLnppcA==?=\"", "日本語.zip"),
        ("attachment; filename=\"=?utf-8?b?5pel5pys6KqeLnppcA?=\"", "日本語.zip"),
        ("attachment; filename==?UTF-8?B?YS50eHQ=?=", "a.txt"),
        ("attachment; filename=\"=?UTF-8?Q?na=C3=AFve_plan.txt?=\"", "naïve plan.txt"),
        ("attachment; filename=\"=?ISO-8859-1?Q?caf=E9.txt?=\"", "café.txt"),
        ("attachment; filename=\"=?UTF-8*en?Q?a.txt?=\"", "a.txt"),
        ("attachment; filename=\"=?UTF-8?Q?a?= =?UTF-8?Q?b.txt?=\"", "ab.txt"),
        ("attachment; filename=\"=?UTF-8?Q?=E6=97?=  =?UTF-8?Q?=A5.txt?=\"", "日.txt"),
        ("attachment; filename=\"x =?UTF-8?Q?a?= y.txt\"", "x a y.txt"),
        ("attachment; filename=\"=?UTF-8?B?Pz8+Lz8v?=.txt\"", ".txt"),
        // Invalid ones stay as they are.
        ("attachment; filename=\"=?GBK?B?xOM=?=\"", "=?GBK?B?xOM=?="),
        ("attachment; filename=\"=?UTF-8?X?a?=\"", "=?UTF-8?X?a?="),
        ("attachment; filename=\"=?UTF-8?B?!?=\"", "=?UTF-8?B?!?="),
        ("attachment; filename=\"=?UTF-8?Q?=E?=\"", "=?UTF-8?Q?=E?="),
        ("attachment; filename=\"=?UTF-8?Q?=ZZ?=\"", "=?UTF-8?Q?=ZZ?="),
        ("attachment; filename=\"=?UTF-8?Q?a\"", "=?UTF-8?Q?a"),
        ("attachment; filename=\"=?UTF-8?Q?=FF?=\"", "=?UTF-8?Q?=FF?="),
        ("attachment; filename=\"=?UTF-8??a?=\"", "=?UTF-8??a?="),
        ("attachment; filename=\"=?GBK?Q?a?=\"", "=?GBK?Q?a?="),
        ("attachment; filename=\"=?UTF-8?Q?a?x\"", "=?UTF-8?Q?a?x"),
    ]) func `encoded words of mail are decoded`(_ field: String, _ name: String) {
        #expect(ContentDisposition.fileName(from: field) == name)
    }

    @Test(arguments: [
        ("a%20b.txt", "a b.txt"), ("%E6%97%A5.txt", "日.txt"), ("100%.txt", "100%.txt"), ("a%2", "a%2"),
        ("%FF.txt", "%FF.txt"), ("50%25.txt", "50%.txt"), ("a%2Fb.txt", "b.txt"), ("a%5Cb.txt", "b.txt"),
        ("a+b.txt", "a+b.txt"), ("日本.txt", "日本.txt"), ("/etc/passwd", "passwd"), ("../../a.txt", "a.txt"),
        ("..\\..\\a.txt", "a.txt"), ("C:\\dir\\a.txt", "a.txt"), ("dir/", "dir"), ("a/\u{301}b.txt", "\u{301}b.txt"),
        ("a.", "a."),
    ]) func `B4 the plain name is decoded and its folders dropped`(_ value: String, _ name: String) {
        #expect(ContentDisposition.fileName(from: "attachment; filename=\"\(value)\"") == name)
        #expect(ContentDisposition.fileName(from: "attachment; filename=\(value)") == name)
    }

    @Test func `raw bytes of both charsets are decoded`() {
        func name(_ bytes: [UInt8]) -> String? {
            let head = ResponseHead(
                parsing: Array("HTTP/1.1 200 OK\r\nContent-Disposition: a; filename=\"".utf8) + bytes + [0x22])
            return head?.contentDisposition.flatMap(ContentDisposition.fileName)
        }
        #expect(name(Array("日本.zip".utf8)) == "日本.zip")
        #expect(name([0x63, 0x61, 0x66, 0xE9]) == "café")
    }

    @Test(arguments: [
        "", "attachment", "attachment;", "inline; size=1", "attachment; filename", "attachment; filename=",
        "attachment; filename=\"\"", "attachment; filename=\"", "attachment; filename=.", "attachment; filename=\"..\"",
        "attachment; filename=\"/\"", "attachment; filename=\"a/..\"", "attachment; filename=\" \"", "=a.txt",
        "attachment; xfilename=a.txt", "attachment; filenames=a.txt", "attachment; filename*=UTF-8''%FF",
        "attachment; filename*=GBK''a",
    ]) func `an unusable name is no name`(_ field: String) { #expect(ContentDisposition.fileName(from: field) == nil) }

    @Test func `no field traps, and every name can be sanitized`() {
        var dice = Dice(seed: 5)
        var names = 0
        for round in 0..<20_000 {
            let bytes =
                round % 2 == 0
                ? dice.bytes(upTo: 40, from: "filename*=\";\\/='%=?UTF-8?B? ")
                : dice.damaged("a; filename=\"=?UTF-8?B?5pel?= =?x?Q?a=20?=\"; filename*=UTF-8''%e2%82%ac.txt")
            guard let name = ContentDisposition.fileName(from: String(decoding: bytes, as: UTF8.self)) else { continue }
            names += 1
            let safe = FileName.safe(name)
            #expect(FileName.safe(safe) == safe)
        }
        #expect(names > 1000)
    }
}
