/// The names of other programs and formats that every download has to do with.
package enum ForeignMarks {
    /// What aria2, axel and lftp append to a file's name for the file beside it that shows that it is not finished.
    package static let controlFiles = ["aria2", "st", "lftp-pget-status"]
    /// What states the digests of a file's pieces, for advice.
    package static let pieceDigests = "a Metalink that has digests of pieces"
}
