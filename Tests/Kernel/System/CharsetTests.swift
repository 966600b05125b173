import Testing

@testable import PawlBase
@testable import PawlSystem

/// Names in responses that are not UTF-8.
@Suite struct CharsetTests {
    private let charsets = CharsetDecoder(convert: SystemCharsets.utf8)

    private func bytes(_ hex: String) -> [UInt8] { Hexadecimal.bytes(hex.filter { $0 != " " }) ?? [] }

    private func name(_ field: [UInt8], type: String? = nil) -> String? {
        let type = type.map { "Content-Type: \($0)\r\n" } ?? ""
        let head = Array("HTTP/1.1 200 OK\r\n\(type)Content-Disposition: ".utf8) + field + Array("\r\n\r\n".utf8)
        return ResponseHead(parsing: head)?.suggestedName(charsets)
    }

    @Test(arguments: [
        ("filename*=GBK''%B2%E2%CA%D4.zip", "测试.zip"), ("filename*=gb2312''%B2%E2%CA%D4.zip", "测试.zip"),
        ("filename*=gb18030'zh'%B2%E2%81%30%81%30.zip", "测\u{80}.zip"),
        ("filename*=windows-1252''%80%93x%94.txt", "€“x”.txt"), ("filename*=iso-8859-1''%80%E9.txt", "€é.txt"),
        ("filename*=Big5''%B4%FA%B8%D5.zip", "測試.zip"), ("filename*=Shift_JIS''%83e%83X%83g.zip", "テスト.zip"),
        ("filename*=euc-jp''%A5%C6%A5%B9%A5%C8.zip", "テスト.zip"), ("filename*=EUC-KR''%C7%D1%B1%DB.zip", "한글.zip"),
        ("filename*=koi8-r''%C6%C1%CA%CC.zip", "файл.zip"), ("filename*=windows-1251''%F4%E0%E9%EB.zip", "файл.zip"),
        ("filename*=ISO-8859-15''%A4.txt", "€.txt"), ("filename*=nonsense''%B2.zip; filename=plain.zip", "plain.zip"),
        ("filename*=GBK''%FF%FF.zip; filename=plain.zip", "plain.zip"),
        ("filename*=gbk//TRANSLIT''%B2%E2.zip; filename=plain.zip", "plain.zip"),
        ("filename*=UTF-7''+AGE-.zip; filename=plain.zip", "plain.zip"),
        ("filename=\"=?GB2312?Q?=B2=E2=CA=D4.zip?=\"", "测试.zip"), ("filename=\"=?gbk?B?suLK1C56aXA=?=\"", "测试.zip"),
        ("filename=\"=?Big5?B?tPq41Q==?= =?Big5?Q?.zip?=\"", "測試.zip"),
        ("filename=\"=?iso-8859-1?Q?caf=E9.txt?=\"", "café.txt"),
    ]) func `a stated charset is decoded`(field: String, expected: String) {
        #expect(name(Array("attachment; \(field)".utf8)) == expected)
    }

    @Test(arguments: [
        // GBK, Shift_JIS, Big5.
        ("B2 E2 CA D4", "测试"), ("83 65 83 58 83 67", "テスト"), ("93 FA 96 7B 8C EA", "日本語"),
        ("D6 D0 CE C4 CE C4 BC FE 28 31 29", "中文文件(1)"), ("A4 A4 A4 E5 C0 C9 AE D7", "中文檔案"),
        // EUC-JP, whose katakana are ideographs in Big5, and two of those.
        ("A5 C6 A5 B9 A5 C8", "テスト"), ("A5 C7 A1 BC A5 BF", "データ"), ("A5 BB A5 AB", "本市"),
        // Western: windows-1252.
        ("63 61 66 E9", "café"), ("DC 62 65 72 67 72 F6 DF 65", "Übergröße"),
        ("C4 72 7A 74 65 20 C4 6D 74 65 72", "Ärzte Ämter"), ("44 6F 6E 92 74 20 63 61 6E 92 74", "Don’t can’t"),
        ("93 71 94", "“q”"), ("C5 4C C4", "ÅLÄ"), ("E5 E4 F6", "åäö"), ("C9 6C E9 70 68 61 6E 74", "Éléphant"),
        ("80 35", "€5"),
    ]) func `raw bytes are decoded where they show their charset, and are Western else`(hex: String, expected: String) {
        let field = Array("attachment; filename=\"".utf8) + bytes(hex) + Array(".zip\"".utf8)
        #expect(name(field) == expected + ".zip")
    }

    @Test func `the charset of the content type is tried first`() {
        let raw = Array("attachment; filename=".utf8) + bytes("F4 E0 E9 EB") + Array(".zip".utf8)
        #expect(name(raw, type: "application/octet-stream;charset=windows-1251") == "файл.zip")
        #expect(name(raw, type: "application/octet-stream;charset=utf-8") == "ôàéë.zip")
        #expect(name(Array("attachment; filename=é".utf8), type: "text/plain;charset=windows-1251") == "é")
    }

    @Test func `a field without a name leaves the next one`() {
        func head(_ fields: String...) -> ResponseHead? {
            let lines = fields.map { "Content-Disposition: \($0)\r\n" }.joined()
            return ResponseHead(parsing: Array("HTTP/1.1 200 OK\r\n\(lines)\r\n".utf8))
        }
        #expect(head("inline", "attachment; filename=a.zip")?.suggestedName(charsets) == "a.zip")
        #expect(
            head("attachment; filename=\"\"", "attachment; filename=..", "x; filename=b")?.suggestedName(charsets)
                == "b")
        #expect(head("attachment; filename=a", "attachment; filename=b")?.suggestedName(charsets) == "a")
        #expect(head("inline")?.suggestedName(charsets) == nil)
        #expect(head("inline", "attachment; filename=a")?.contentDisposition == "inline")
    }

    @Test func `without the C library's modules the name in plain text counts`() {
        let fields = Array("attachment; filename*=GBK''%B2%E2.zip; filename=plain.zip".utf8)
        #expect(ContentDisposition.fileName(from: fields) == "plain.zip")
        let raw = Array("attachment; filename=".utf8) + bytes("B2 E2 CA D4")
        #expect(ContentDisposition.fileName(from: raw) == "²âÊÔ")
    }

    @Test func `a name is made safe after it was decoded`() throws {
        let address = try WebAddress.parse("http://h/x").address
        var head = ResponseHead(status: 200)
        // In Shift_JIS the second byte of this character is a backslash; in UTF-16 every character may be a slash.
        head.contentDisposition = "attachment; filename*=utf-16le''..%2F%00..%2F%00e%00"
        let name = NamingPolicy.choose(.server, address: address, head: head, charsets: charsets)
        #expect(!name.contains("/") && !name.hasPrefix("."))
        head.contentDisposition = "attachment; filename*=shift_jis''%95%5C.txt"
        #expect(NamingPolicy.choose(.server, address: address, head: head, charsets: charsets) == "表.txt")
    }

    @Test func `a percent-encoded URL may have another charset`() throws {
        let address = try WebAddress.parse("http://h/%B2%E2%CA%D4.zip").address
        #expect(NamingPolicy.choose(.url, address: address, head: nil, charsets: charsets) == "测试.zip")
    }
}
