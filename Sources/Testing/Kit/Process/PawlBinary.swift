import Glibc

/// The locations of the programs under test.
package enum PawlBinary {
    /// The command line program: `PAWL_BINARY` of the environment, else the product beside the running test bundle.
    package static var path: String {
        if let named = unsafe getenv("PAWL_BINARY") { return unsafe String(cString: named) }
        return beside("pawl")
    }

    /// A program that was built together with the tests.
    package static func beside(_ name: String) -> String {
        let candidates = [FileSystem.link("/proc/self/exe"), CommandLine.arguments.first].compactMap(\.self)
        for program in candidates {
            let sibling = FileSystem.folder(of: program) + "/" + name
            if FileSystem.size(sibling) != nil { return sibling }
        }
        return FileSystem.folder(of: candidates.first ?? "") + "/" + name
    }

    /// Whether it exists and is executable.
    package static var isBuilt: Bool { unsafe access(path, X_OK) == 0 }
}
