import Foundation

extension URL {
    /// The form that Pawl accepts: a path for a file, else the whole URL.
    var text: String { isFileURL ? path : absoluteString }
}
