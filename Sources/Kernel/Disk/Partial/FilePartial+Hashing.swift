import PawlBase
import PawlSystem

// Digests of the part file, computed by workers.
extension FilePartial {
    func hashAhead(_ algorithms: [HashAlgorithm], done: ByteRangeSet) {
        if CRCHashing.canCompute(algorithms) { return crcHashing.hashAhead(algorithms, done: done) }
        hashedTo = max(hashedTo, done.prefix)
        contentHashing.hashAhead(algorithms, available: done.prefix)
    }

    func digests(
        _ algorithms: [HashAlgorithm], length: Int64,
        completion: @escaping @Sendable (Result<[Checksum], Failure>) -> Void
    ) {
        hashedTo = length
        verified = try? openFile.status()
        if CRCHashing.canCompute(algorithms) {
            return crcHashing.digests(algorithms, length: length, completion: completion)
        }
        contentHashing.digests(algorithms, length: length, completion: completion)
    }

    func decodedDigests(
        _ algorithms: [HashAlgorithm], coding: String, length: Int64,
        completion: @escaping @Sendable (Result<[Checksum]?, Failure>) -> Void
    ) {
        let (file, path) = (openFile, partPath)
        disk.hashers.submit {
            completion(DecodedHash.digests(algorithms, of: file, at: path, coding: coding, length: length))
        }
    }

    func hash(
        _ range: ByteRange, _ algorithm: HashAlgorithm, padding: Int64,
        completion: @escaping @Sendable (Result<[UInt8], Failure>) -> Void
    ) {
        let (file, path) = (openFile, partPath)
        disk.hashers.submit {
            do throws(Failure) {
                let hashing = FileHashing(file, path: path)
                completion(.success(try hashing.digest(algorithm, of: range, padding: padding)))
            } catch { completion(.failure(error)) }
        }
    }

    func forgetHash() {
        hashing?.reset()
        crc?.reset()
        hashedTo = 0
        verified = nil
    }

    private var crcHashing: CRCHashing {
        if let crc { return crc }
        let made = CRCHashing(file: openFile, path: partPath, workers: disk.hashers)
        crc = made
        return made
    }

    private var contentHashing: ContentHashing {
        if let hashing { return hashing }
        let made = ContentHashing(file: openFile, path: partPath, workers: disk.hashers)
        hashing = made
        return made
    }
}
