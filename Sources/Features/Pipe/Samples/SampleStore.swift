package import PawlBase
import PawlDisk

/// Contents that are used later, one after another in unnamed files.
///
/// A file is closed, which frees its space, when none of its contents is in use.
package struct SampleStore: Sendable {
    /// The length from which another file is begun.
    private let longest: Int64
    private let folder: SpoolFolder
    private var file: OpenFile
    private var end: Int64 = 0

    init(_ file: OpenFile, _ folder: SpoolFolder, longest: Int64) {
        self.longest = longest
        self.file = file
        self.folder = folder
    }

    /// Writes a content to the file; returns it as a region of the file.
    package mutating func keep(_ content: SampleContent) throws(Failure) -> SampleContent {
        if end >= longest {
            do throws(Failure) {
                file = try folder.open()
                end = 0
            } catch  where error.lacksDescriptors {
                // The present one gets longer.
            }
        }
        let start = end
        do throws(Failure) { try content.write(to: file, at: start, path: folder.path) } catch {
            throw folder.explained(error)
        }
        end += content.length
        return SampleContent(file: file, start: start, length: content.length)
    }
}
