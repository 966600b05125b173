package import PawlBase
import PawlCollections

/// The file of an object: the parts of its key are folders, under their own names.
package enum ObjectPath {
    /// The path for what follows the prefix in the key of `address`, each part as it is.
    ///
    /// Throws code 28 for keys that no file can have or that would lead elsewhere.
    package static func path(of rest: String, _ address: WebAddress) throws(Failure) -> String {
        if rest.utf8.last == .slash {
            throw refusal(address, "its key ends with /, so that it names a folder, but it has content")
        }
        do throws(EntryFlaw) {
            return try EntryName.path(rest.pathParts(keepsEmpty: true).map { Array($0.utf8) })
        } catch { throw refusal(address, "its key cannot be a path: \(error.why)") }
    }

    private static func refusal(_ address: WebAddress, _ why: String) -> Failure {
        Failure(
            .badOption, "cannot store", at: address.redacted, because: why,
            remedy: address.isPrefix ? "copy it to another key" : "download it alone under another name")
    }
}
