import PawlDisk
package import PawlEngine

/// What the features give to the ports of every engine.
package enum Features {
    package static func digestFinder(_ fetcher: any ContentFetching) -> any DigestFinder {
        SidecarFinder(fetcher: fetcher, signatures: SystemSignatures())
    }
}
