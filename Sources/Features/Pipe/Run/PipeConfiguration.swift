package import Pawl
package import PawlBase

/// The configuration of one run of `pawl pipe`.
package struct PipeConfiguration: Sendable {
    package enum Format: String, Sendable, Hashable, CaseIterable { case files, tar, warc, none }

    package enum Target: Sendable, Hashable {
        case folder(String)
        /// Objects whose keys begin with the key of the address.
        case objects(WebAddress)
    }

    /// Where metrics are provided.
    package enum Metrics: Sendable, Hashable {
        case file(String)
        case port(UInt16)
    }

    /// The options of each download.
    package var download = DownloadOptions()
    /// The descriptor that jobs are read from.
    package var input: Int32 = 0
    /// The bytes of the input, if it is a file.
    package var inputLength: Int64?
    /// The line after the last job; input that ends without it was cut off.
    package var endLine: String?
    /// The descriptor that results are written to.
    package var output: Int32 = 1
    /// Where samples are stored; `nil` to store none.
    package var target: Target?
    package var format: Format?
    /// The name of the shard without an extension.
    package var shard: String?
    /// Whether the input is a manifest whose failed samples are retried.
    package var retriesFailed = false
    package var isOrdered = false
    package var jobs = 128
    package var maximumSize: Int64?
    /// Media types, `image/*` or `image/png`; empty for all.
    package var accepted: [MediaRange] = []
    /// The longest time that one sample may take, its retries included.
    package var sampleTimeout: Interval?
    package var grace = Interval.seconds(5)
    package var allowsPrivateAddresses = false
    package var perHost = 6
    package var hostDelay = Interval.zero
    /// The number of samples of a server in a row that could not connect, after which others fail at once; 0: they never do.
    package var hostFailures = 5
    /// How long samples wait for the network of this machine.
    package var networkTimeout = Interval.seconds(120)
    package var share = HostShare.whole
    package var obeysRobots = true
    /// A mail address or URL of the operator, for the user agent.
    package var contact: String?
    package var metrics: Metrics?
    package var isQuiet = false
    /// The tags of X-Robots-Tag that are respected, in lower case.
    package var respected: Set<String> = []

    package init() {}
}
