package import PawlCore
import Synchronization

/// Contents that are used later, one after another in an unnamed file.
package final class SampleStore: Sendable {
    private let file: OpenFile
    private let folder: SpoolFolder
    private let end = Mutex<Int64>(0)

    init(_ file: OpenFile, _ folder: SpoolFolder) {
        self.file = file
        self.folder = folder
    }

    /// Writes a content to the file; returns it as a region of the file.
    package func keep(_ content: SampleContent) throws(Failure) -> SampleContent {
        let start = end.withLock { end in
            defer { end += content.length }
            return end
        }
        try content.write(to: file, at: start)
        return SampleContent(file: file, start: start, length: content.length)
    }
}
