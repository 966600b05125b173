@testable import PawlBase
@testable import PawlS3

/// What object stores send, what their users' files say, and keys.
enum ObjectLaws {
    static func check(_ input: inout FuzzInput) throws(BrokenLaw) {
        let bytes = input.rest()
        try checkDocuments(bytes)
        let note = UploadNote(bytes)
        if let note { try hold(UploadNote(note.bytes) == note, "a note is not read as it was written") }
        try checkConfiguration(bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        if let address = try? WebAddress.s3(bucket: "bucket", key: text) { try check(address) }
        if let path = try? ObjectPath.path(
            of: text, WebAddress(scheme: .located(.s3), host: "b", port: 443, path: "/", query: nil))
        {
            try hold(path.hasSameBytes(as: text), "another name than the key's: \(path)")
            for part in path.pathParts(keepsEmpty: true) {
                try hold(FileName.isPossible(String(part)), "no file can have the name \(part)")
            }
        }
    }

    /// The properties of the address of an object.
    static func check(_ address: WebAddress) throws(BrokenLaw) {
        guard let again = try? WebAddress.parse(address.text).address else {
            // White space around a text is no part of an address.
            let isTrimmed = address.text.utf8.last.map(\.isWhiteSpace) ?? false
            return try hold(isTrimmed, "its own text is refused: \(address.text)")
        }
        let isTrimmed = address.text.utf8.last.map(\.isWhiteSpace) ?? false
        try hold(isTrimmed || again == address, "its own text means another object: \(address.text)")
        try hold(!address.text.utf8.contains { $0.isControl && $0 != .tab }, "a control character")
        let location = S3Access().location(of: address, parameters: [("k", address.key)])
        try hold((try? WebAddress.parse(location.text).address) == location, "its URL means another: \(location.text)")
    }

    private static func checkDocuments(_ bytes: [UInt8]) throws(BrokenLaw) {
        if let listing = try? S3Listing(bytes) {
            for object in listing.objects { try hold(object.size >= 0, "a negative size") }
        }
        if let list = try? S3PartList(bytes) {
            let usable = PartSizes(total: nil).usable(list.parts)
            try hold(usable.map(\.number) == Array(1..<(usable.count + 1)), "a gap between parts")
        }
        _ = try? S3Upload.all(in: bytes)
        _ = try? S3Document.uploadID(bytes)
        _ = try? S3Document.completedTag(bytes)
        let code = S3Refusal.code(in: bytes) ?? ""
        let refusal = S3Refusal(status: 400, code: code, isSigned: true, store: "store")
        let isPrintable = !refusal.reason(bucket: "b").description.utf8.contains(where: \.isControl)
        try hold(isPrintable, "a control character in a message")
    }

    private static func checkConfiguration(_ bytes: [UInt8]) throws(BrokenLaw) {
        let configuration = S3Configuration(environment: { _ in nil }, file: { _ in bytes }, home: "/")
        let access: S3Access
        do throws(Failure) { access = try configuration.access() } catch {
            let isPrintable = !error.description.utf8.contains(where: \.isControl)
            return try hold(isPrintable, "a control character in a failure")
        }
        try hold(S3Access.isRegion(access.region), "a region that is none")
        for text in [access.credentials?.accessKey, access.credentials?.sessionToken] {
            try hold(FieldText.isSafe(text ?? ""), "an access key that cannot be sent")
        }
    }
}
