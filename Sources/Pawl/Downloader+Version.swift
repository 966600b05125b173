extension Downloader {
    /// The version of this library and of the command line that is built from it.
    public static let version = "0.1.0"
}
