import Glibc

/// Where the command line program was built.
package enum PawlBinary {
    /// `PAWL_BINARY` of the environment, else the product beside the running test bundle.
    package static var path: String {
        if let named = unsafe getenv("PAWL_BINARY") { return unsafe String(cString: named) }
        let candidates = [FileSystem.link("/proc/self/exe"), CommandLine.arguments.first].compactMap(\.self)
        for program in candidates {
            let sibling = FileSystem.folder(of: program) + "/pawl"
            if FileSystem.size(sibling) != nil { return sibling }
        }
        return FileSystem.folder(of: candidates.first ?? "") + "/pawl"
    }

    /// Whether it is there to be run.
    package static var isBuilt: Bool { unsafe access(path, X_OK) == 0 }
}
