/// The source tree that the tests were built from.
package enum Checkout {
    /// Its root: the nearest folder above this file that has a Package.swift.
    package static let root: String = {
        var folder = FileSystem.folder(of: #filePath)
        while FileSystem.size(folder + "/Package.swift") == nil {
            precondition(folder.contains("/"), "no Package.swift above \(#filePath)")
            folder = FileSystem.folder(of: folder)
        }
        return folder
    }()
}
