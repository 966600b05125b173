// The XML documents of S3's API, <https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html>.
package import PawlBase
package import PawlXML

/// One object of a listing.
package struct S3Object: Hashable, Sendable {
    package var key: String
    package var size: Int64
    /// Without its quotes.
    package var entityTag: String
    package var modified: UnixTime?
}

/// A page of a bucket's listing.
package struct S3Listing: Hashable, Sendable {
    package var objects: [S3Object] = []
    /// What stands for the keys behind a delimiter.
    package var prefixes: [String] = []
    /// Requests the next page; `nil` on the last one.
    package var next: String?

    /// Throws why the body is no listing.
    package init(_ body: [UInt8]) throws(XMLElement.Fault) {
        let root = try S3Document.root(body, with: "IsTruncated", "Contents", "KeyCount", "Name")
        let isEncoded = root.child("EncodingType")?.trimmedText == "url"
        func key(_ element: XMLElement?) -> String? {
            guard let text = element?.text else { return nil }
            guard isEncoded else { return text }
            let plain = text.utf8.map { $0 == .plus ? UInt8.space : $0 }
            return String(validating: PercentCoding.decoded(plain), as: UTF8.self)
        }
        for element in root.children("Contents") {
            guard let key = key(element.child("Key")), let size = S3Document.size(element) else { continue }
            objects.append(
                S3Object(
                    key: key, size: size, entityTag: S3Document.tag(element.child("ETag")),
                    modified: element.child("LastModified").flatMap { UnixTime(s3: $0.trimmedText) }))
        }
        prefixes = root.children("CommonPrefixes").compactMap { key($0.child("Prefix")) }
        let isTruncated = root.child("IsTruncated")?.trimmedText == "true"
        let token = root.child("NextContinuationToken")?.trimmedText
        next = isTruncated ? token.flatMap { $0.isEmpty ? nil : $0 } : nil
        guard !isTruncated || next != nil else {
            throw XMLElement.Fault(words: "the listing is cut off without a way to continue")
        }
    }
}

/// A part that a multipart upload has.
package struct S3Part: Hashable, Sendable {
    /// From 1.
    package var number: Int
    package var size: Int64
    /// Without its quotes.
    package var entityTag: String
    /// Its CRC32C in Base64, where the store says so.
    package var checksum: String?

    package init(number: Int, size: Int64, entityTag: String, checksum: String? = nil) {
        self.number = number
        self.size = size
        self.entityTag = entityTag
        self.checksum = checksum
    }
}

/// A page of the parts of an upload.
package struct S3PartList: Hashable, Sendable {
    package var parts: [S3Part] = []
    /// The marker of the next page; `nil` on the last one.
    package var next: Int?

    package init(_ body: [UInt8]) throws(XMLElement.Fault) {
        let root = try S3Document.root(body, with: "UploadId", "Part", "IsTruncated")
        for element in root.children("Part") {
            guard let number = element.child("PartNumber").flatMap({ Int($0.trimmedText) }), number > 0,
                let size = S3Document.size(element)
            else { continue }
            let tag = S3Document.tag(element.child("ETag"))
            let checksum = element.child("ChecksumCRC32C")?.trimmedText
            parts.append(S3Part(number: number, size: size, entityTag: tag, checksum: checksum))
        }
        guard root.child("IsTruncated")?.trimmedText == "true" else { return }
        next = root.child("NextPartNumberMarker").flatMap { Int($0.trimmedText) }
        guard next != nil else { throw XMLElement.Fault(words: "the list of parts is cut off") }
    }
}

/// An upload that was begun and not completed.
package struct S3Upload: Hashable, Sendable {
    package var key: String
    package var id: String
    package var begun: UnixTime?

    /// Those of a listing.
    package static func all(in body: [UInt8]) throws(XMLElement.Fault) -> [S3Upload] {
        try S3Document.root(body, with: "Bucket", "Upload", "IsTruncated").children("Upload").compactMap { element in
            guard let key = element.child("Key")?.text, let id = element.child("UploadId")?.trimmedText, !id.isEmpty
            else { return nil }
            return S3Upload(
                key: key, id: id, begun: element.child("Initiated").flatMap { UnixTime(s3: $0.trimmedText) })
        }
    }
}

/// Documents that are read or written as a whole.
package enum S3Document {
    /// Listings have a thousand entries of some elements each, and keys of up to a kilobyte, three times as long encoded.
    package static let limits = XMLElement.Limits(length: 16 << 20, depth: 16, elements: 50_000)

    /// The root of a document with one of these elements.
    ///
    /// Its own name differs between stores.
    static func root(_ body: [UInt8], with names: String...) throws(XMLElement.Fault) -> XMLElement {
        let root = try XMLElement.parse(body, within: limits)
        guard root.name != "Error" else {
            let code = root.child("Code")?.trimmedText ?? ""
            throw XMLElement.Fault(words: "it is the error \(Redaction.clipped(Redaction.printable(code), to: 64))")
        }
        guard names.contains(where: { root.child($0) != nil }) else {
            throw XMLElement.Fault(words: "it has no \(names[0])")
        }
        return root
    }

    /// The identifier of an upload that was begun.
    package static func uploadID(_ body: [UInt8]) throws(XMLElement.Fault) -> String {
        let root = try root(body, with: "UploadId")
        guard let id = root.child("UploadId")?.trimmedText, !id.isEmpty else {
            throw XMLElement.Fault(words: "it has no identifier of the upload")
        }
        return id
    }

    /// The entity tag of a completed upload.
    ///
    /// A completion that fails late is a document with an error under status 200.
    package static func completedTag(_ body: [UInt8]) throws(XMLElement.Fault) -> String {
        tag(try root(body, with: "ETag", "Location").child("ETag"))
    }

    /// The request that completes an upload.
    package static func completion(_ parts: [S3Part]) -> [UInt8] {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for part in parts {
            text += "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(escaped("\"\(part.entityTag)\""))</ETag>"
            if let checksum = part.checksum { text += "<ChecksumCRC32C>\(escaped(checksum))</ChecksumCRC32C>" }
            text += "</Part>"
        }
        return Array((text + "</CompleteMultipartUpload>").utf8)
    }

    static func tag(_ element: XMLElement?) -> String { unquoted(element?.trimmedText ?? "") }

    /// An entity tag without its quotes.
    package static func unquoted(_ tag: String) -> String {
        tag.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"") ? String(tag.dropFirst().dropLast()) : tag
    }

    static func size(_ element: XMLElement) -> Int64? {
        guard let text = element.child("Size")?.trimmedText, let size = Array(text.utf8).decimalNumber else {
            return nil
        }
        return size
    }

    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { text, character in
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case "\"": text += "&quot;"
            case _: text.append(character)
            }
        }
    }
}

extension UnixTime {
    /// `2009-10-12T17:50:30.000Z`; fractions are cut off.
    init?(s3 text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes.count <= 40, bytes.last == UInt8(ascii: "Z"), bytes[4] == .dash,
            bytes[7] == .dash, bytes[10] == UInt8(ascii: "T"), bytes[13] == .colon, bytes[16] == .colon,
            let year = bytes[0..<4].decimalNumber, let month = bytes[5..<7].decimalNumber, 1...12 ~= month,
            let day = bytes[8..<10].decimalNumber, 1...31 ~= day, let hour = bytes[11..<13].decimalNumber, hour < 24,
            let minute = bytes[14..<16].decimalNumber, minute < 60, let second = bytes[17..<19].decimalNumber,
            second <= 60
        else { return nil }
        self.init(seconds: Self.days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second)
    }
}
