package import PawlBase

/// The file of an object: the parts of its key are folders, under their own names.
package enum ObjectPath {
    /// The path for what follows the prefix in the key of `address`, each part as it is.
    ///
    /// Throws code 28 for keys that no file can have or that would lead elsewhere.
    package static func path(of rest: String, _ address: WebAddress) throws(Failure) -> String {
        let parts = rest.pathParts(keepsEmpty: true).map(String.init)
        if parts.last?.isEmpty == true {
            throw refusal(address, "its key ends with /, so that it names a folder, but it has content")
        }
        if parts.contains(where: { ["", ".", ".."].contains($0) }) {
            throw refusal(address, "its key has an empty part, . or .., which is not a file name")
        }
        guard parts.allSatisfy(FileName.isPossible) else {
            throw refusal(
                address, "a part of its key has more than \(FileName.limit) bytes, which no file name can have")
        }
        return rest
    }

    private static func refusal(_ address: WebAddress, _ why: String) -> Failure {
        Failure(
            .badOption, "cannot store", at: address.redacted, because: why,
            remedy: address.isPrefix ? "copy it to another key" : "download it alone under another name")
    }
}
