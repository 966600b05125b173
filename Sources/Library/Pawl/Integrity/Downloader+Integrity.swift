package import PawlBase
import PawlDisk
import PawlEngine
package import PawlIntegrity
package import PawlJournal
import PawlSystem

extension Downloader {
    /// Begins the part file of a download to be added with bytes of other files, on the calling thread.
    ///
    /// `name` is the file's name in `folder`. `representation` is that of the bytes where no digest will prove them.
    package static func seed(
        _ seed: Seed, for source: String, representation: Representation? = nil, name: String, in folder: String,
        length: Int64, replacing: Bool, permissions: UInt32? = nil, progress: (Int) -> Void = { _ in }
    ) throws(Failure) -> SeededPart {
        let facts = JournalFacts(
            sources: [try WebAddress.parse(source).address.text],
            representation: representation ?? Representation(total: length), name: name)
        return try FileDisk { _ in }.seed(
            seed, as: facts, length: length, ifExists: replacing ? .overwrite : .rename, permissions: permissions,
            in: folder, progress: progress)
    }

    /// Removes the journal that a kill or a power cut has left beside a file that is complete, and that nobody fetches.
    package static func tidy(_ name: String, in folder: String) { FileDisk { _ in }.tidy(name, in: folder) }

    /// Compares a file with the content of an address, of which nothing is written; blocks the calling thread, which must
    /// not be one of Swift's pool.
    package func compare(
        _ source: String, with path: String, options: DownloadOptions
    ) throws(PawlError) -> ContentComparison {
        let comparison: FileComparison
        do throws(Failure) { comparison = try FileComparison(with: path) } catch { throw PawlError(error) }
        var options = options.unverified()
        // The name comes with the first response, and with it the representation.
        options.fileName = nil
        options.naming = .server
        let download = try add(source, options: options, hooks: nil) { _ in comparison.destination }
        download.resume()
        _ = try wait(for: download)
        return comparison.result
    }

    /// The digests that the origin states of the content in its response's fields; blocks the calling thread, which must not
    /// be one of Swift's pool.
    package func statedDigests(of source: String, options: DownloadOptions) throws(PawlError) -> [ExpectedDigest] {
        let stated = StatedContent()
        var options = options.unverified()
        options.verification = .auto
        options.fileName = nil
        options.naming = .server
        let download = try add(source, options: options, hooks: nil) { _ in stated.destination }
        download.resume()
        do throws(PawlError) { _ = try wait(for: download) } catch {
            guard let digests = stated.digests else { throw error }
            return digests
        }
        return stated.digests ?? []
    }

    /// Small content, waited for on the calling thread, which must not be one of Swift's pool.
    package func content(of source: String, maximumSize: Int, options: DownloadOptions) throws(PawlError) -> [UInt8] {
        let options = options.unverified()
        let memory = MemorySink(limit: Int64(maximumSize))
        let download = try add(source, options: options, hooks: nil) { _ in memory.destination }
        download.resume()
        _ = try wait(for: download)
        return memory.bytes
    }

    /// Waits for a download on the calling thread, which must not be one of Swift's pool.
    package func wait(for download: Download) throws(PawlError) -> DownloadedFile {
        let ended = BlockingResult()
        Task.detached {
            // Nobody cancels this task.
            if let end = await download.ending { ended.set(end) }
        }
        return try ended.get()
    }
}

/// A result that a thread waits for.
private final class BlockingResult: Sendable {
    private let result = Monitor<Result<DownloadedFile, PawlError>?>(nil)

    func set(_ value: Result<DownloadedFile, PawlError>) { result.with { $0 = value } }

    func get() throws(PawlError) -> DownloadedFile {
        switch result.wait(until: nil, for: { $0 }) {
        case .success(let file): return file
        case .failure(let error): throw error
        case nil: throw .gone("a download", because: "its end was not reported")
        }
    }
}
