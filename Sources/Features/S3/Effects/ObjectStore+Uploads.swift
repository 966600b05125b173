package import PawlBase
import PawlXML

// Objects that are stored in parts.
extension ObjectStore {
    func begin(_ payload: Payload, at address: WebAddress) throws(Failure) -> String {
        let response = try send(
            "POST", address, [("uploads", "")],
            fields: Self.fields(of: payload) + [("x-amz-checksum-algorithm", "CRC32C")], to: "cannot begin to store")
        do throws(XMLElement.Fault) { return try S3Document.uploadID(response.body) } catch {
            throw notS3("cannot begin to store", address, error.words)
        }
    }

    /// Stores a part; `nil` if there is no such upload any more.
    func put(part number: Int, _ bytes: [UInt8], of upload: String, at address: WebAddress) throws(Failure) -> S3Part? {
        let response = try send(
            "PUT", address, [("partNumber", "\(number)"), ("uploadId", upload)], body: bytes,
            to: "cannot store a part of", mayBeMissing: true)
        guard response.head.status != 404 else { return nil }
        return S3Part(
            number: number, size: Int64(bytes.count),
            entityTag: try entityTag(in: response.head, "cannot store a part of", address),
            checksum: response.head.field("x-amz-checksum-crc32c"))
    }

    /// The parts of an upload; `nil` if there is no such upload.
    func parts(of upload: String, at address: WebAddress) throws(Failure) -> [S3Part]? {
        var parts: [S3Part] = []
        var marker: Int?
        while true {
            var parameters = [("uploadId", upload), ("max-parts", "1000")]
            if let marker { parameters.append(("part-number-marker", "\(marker)")) }
            let response = try send("GET", address, parameters, to: "cannot look at", mayBeMissing: true)
            guard response.head.status != 404 else { return nil }
            do throws(XMLElement.Fault) {
                let page = try S3PartList(response.body)
                parts += page.parts
                guard let next = page.next, next > marker ?? 0 else { return parts }
                marker = next
            } catch { throw notS3("cannot look at", address, error.words) }
        }
    }

    /// Makes the parts an object; `nil` if there is no such upload any more.
    package func complete(
        _ parts: [S3Part], of upload: String, at address: WebAddress, isFirst: Bool
    ) throws(Failure) -> Stored? {
        if isFirst, try head(address) != nil { return .exists }
        let response = try send(
            "POST", address, [("uploadId", upload)], fields: isFirst ? [("If-None-Match", "*")] : [],
            body: S3Document.completion(parts), to: "cannot complete", mayBeMissing: true)
        switch response.head.status {
        case 412: return .exists
        case 404: return nil
        case _: break
        }
        do throws(XMLElement.Fault) { return .stored(entityTag: try S3Document.completedTag(response.body)) } catch {
            throw notS3("cannot complete", address, error.words)
        }
    }

    /// Aborts the listed uploads of exactly this key, because its object exists.
    ///
    /// `onlyEmpty`: those without a part, such as one of which only the response was lost.
    package func abortUploads(at address: WebAddress, onlyEmpty: Bool = false) {
        for upload in (try? uploads(at: address)) ?? [] {
            if onlyEmpty, (try? parts(of: upload.id, at: address))?.isEmpty != true { continue }
            try? abort(upload.id, at: address)
        }
    }

    func abort(_ upload: String, at address: WebAddress) throws(Failure) {
        _ = try send("DELETE", address, [("uploadId", upload)], to: "cannot abort", mayBeMissing: true)
    }

    /// The uploads of exactly this key that were begun and not completed.
    func uploads(at address: WebAddress) throws(Failure) -> [S3Upload] {
        let root = try WebAddress.s3(bucket: address.bucket, key: "")
        let response = try send(
            "GET", root, [("uploads", ""), ("prefix", address.key)], to: "cannot look at the uploads of")
        do throws(XMLElement.Fault) {
            return try S3Upload.all(in: response.body).filter { $0.key.utf8.elementsEqual(address.key.utf8) }
        } catch { throw notS3("cannot look at the uploads of", address, error.words) }
    }
}
