import Foundation

extension URL {
    /// As Pawl takes addresses and paths: a path for a file, else the whole address.
    var text: String { isFileURL ? path : absoluteString }
}
