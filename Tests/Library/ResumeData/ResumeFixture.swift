@testable import PawlResumeData

/// Resume data as each version of iOS writes it.
enum ResumeFixture: CaseIterable {
    case eight
    case nine
    /// 10.0 and 10.1, background sessions: unreadable requests.
    case tenBroken
    /// 11.0 to 11.2, after repeated cancel and resume: a byte range.
    case elevenRange
    case twelve

    static let address = "https://cdn.example/films/1.mp4?token=a&b=<c>"
    static let headers = ["Accept": "*/*", "X-Session": "sésame"]
    static let name = "CFNetworkDownload_aB3dE6.tmp"

    var bytes: [UInt8] {
        switch self {
        case .eight: Self.xml(.dictionary(fields))
        case .nine, .tenBroken, .elevenRange: Self.xml(.dictionary(fields))
        case .twelve: Self.archived(fields).bytes
        }
    }

    var fields: [String: PropertyList] {
        var fields: [String: PropertyList] = [
            "NSURLSessionDownloadURL": .string(Self.address), "NSURLSessionResumeBytesReceived": .integer(70_000),
            "NSURLSessionResumeEntityTag": .string("\"v1\""),
            "NSURLSessionResumeServerDownloadDate": .string("Sun, 06 Nov 1994 08:49:37 GMT"),
            "NSURLSessionResumeCurrentRequest": .data(Self.request(isBroken: self == .tenBroken)),
            "NSURLSessionResumeOriginalRequest": .data(Self.request(isBroken: self == .tenBroken)),
            "NSURLSessionResumeInfoVersion": .integer(version),
        ]
        if self == .eight {
            fields["NSURLSessionResumeInfoLocalPath"] = .string("/var/mobile/Applications/0-1/tmp/\(Self.name)")
        } else {
            fields["NSURLSessionResumeInfoTempFileName"] = .string(Self.name)
        }
        if self == .elevenRange { fields["NSURLSessionResumeByteRange"] = .string("70000-140000") }
        return fields
    }

    var version: Int64 {
        switch self {
        case .eight: 1
        case .nine, .tenBroken: 2
        case .elevenRange, .twelve: 4
        }
    }

    /// A request's archive with known and unknown fields.
    static func request(isBroken: Bool) -> [UInt8] {
        let values: [PropertyList] = [
            .integer(9), .boolean(true), .reference(2), .real(60), .reference(5), .boolean(false), .reference(6),
            .reference(0),
        ]
        var fields: [String: PropertyList] = ["$class": .reference(12)]
        for (index, value) in values.enumerated() {
            let isMoved = isBroken && index >= 3
            fields[isMoved ? "__nsurlrequest_proto_prop_obj_\(index - 3)" : "$\(index)"] = value
        }
        fields[isBroken ? "__nsurlrequest_proto_props" : "$8"] = .integer(77)
        let names = headers.sorted { $0.key < $1.key }
        let list = PropertyList.dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000),
            "$top": .dictionary([isBroken ? "NSKeyedArchiveRootObjectKey" : "root": .reference(1)]),
            "$objects": .array([
                .string("$null"), .dictionary(fields),
                .dictionary(["$class": .reference(4), "NS.base": .reference(0), "NS.relative": .reference(3)]),
                .string(address), kind("NSURL"), .string("GET"),
                .dictionary([
                    "$class": .reference(11), "NS.keys": .array([.reference(7), .reference(8)]),
                    "NS.objects": .array([.reference(9), .reference(10)]),
                ]), .string(names[0].key), .string(names[1].key), .string(names[0].value), .string(names[1].value),
                kind("NSDictionary"), kind("NSURLRequest"),
            ]),
        ])
        return list.bytes
    }

    private static func kind(_ name: String) -> PropertyList {
        .dictionary(["$classname": .string(name), "$classes": .array([.string(name), .string("NSObject")])])
    }

    /// A dictionary in a keyed archive under the root key that only resume data has.
    static func archived(_ fields: [String: PropertyList]) -> PropertyList {
        var objects: [PropertyList] = [.string("$null"), .integer(0)]
        var keys: [PropertyList] = []
        var values: [PropertyList] = []
        for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
            keys.append(.reference(objects.count))
            objects.append(.string(key))
            values.append(.reference(objects.count))
            if case .data = value {
                objects.append(.dictionary(["$class": .reference(objects.count + 1), "NS.data": value]))
                objects.append(kind("NSMutableData"))
            } else {
                objects.append(value)
            }
        }
        objects.append(kind("NSDictionary"))
        objects[1] = .dictionary([
            "$class": .reference(objects.count - 1), "NS.keys": .array(keys), "NS.objects": .array(values),
        ])
        return .dictionary([
            "$archiver": .string("NSKeyedArchiver"), "$version": .integer(100_000), "$objects": .array(objects),
            "$top": .dictionary(["NSKeyedArchiveRootObjectKey": .reference(1)]),
        ])
    }

    /// XML in Apple's layout.
    static func xml(_ value: PropertyList) -> [UInt8] {
        let head = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">
            """
        return Array("\(head)\n\(element(value))\n</plist>\n".utf8)
    }

    private static func element(_ value: PropertyList) -> String {
        switch value {
        case .boolean(let value): value ? "<true/>" : "<false/>"
        case .integer(let value): "<integer>\(value)</integer>"
        case .real(let value), .date(let value): "<real>\(value)</real>"
        case .data(let value): "<data>\n\(base64(value))\n</data>"
        case .string(let value): "<string>\(escaped(value))</string>"
        case .array(let values): "<array>\n\(values.map(element).joined(separator: "\n"))\n</array>"
        case .dictionary(let values):
            "<dict>\n\(values.map { "\t<key>\(escaped($0))</key>\n\t\(element($1))" }.joined(separator: "\n"))\n</dict>"
        case .reference(let value): "<dict><key>CF$UID</key><integer>\(value)</integer></dict>"
        }
    }

    private static func escaped(_ text: String) -> String {
        text.map { ["&": "&amp;", "<": "&lt;", ">": "&#62;", "é": "&#xE9;"][$0] ?? String($0) }.joined()
    }

    static func base64(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                text.append(index <= group.count ? letters[Int(word >> UInt32(18 - 6 * index)) & 63] : "=")
            }
            if start % 48 == 45 { text.append("\n\t") }
        }
        return text
    }
}
