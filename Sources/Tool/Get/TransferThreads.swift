import Glibc
import Pawl

extension Downloader.Configuration {
    /// Sets the number of threads that transfer so many downloads at once.
    ///
    /// A single download gains nothing from a second thread. On more than half of the cores, threads that create files in
    /// one folder wait for each other in the kernel: they cost a tenth to a fifth more CPU time and gain little speed.
    package mutating func setThreads(for downloads: Int) {
        let cores = Int(clamping: sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        threads = max(1, min(downloads, cores, max(2, cores / 2), 4))
    }
}
