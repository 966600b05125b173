package import PawlCore
import PawlCurl

/// Sends a few bytes to a web address, beside all downloads.
package enum HTTPPoster {
    /// Blocks the calling thread; gives the answer's status, or why there was none.
    package static func send(
        _ json: [UInt8],
        to address: String,
        seconds: Int = 10,
        deniesPrivateAddresses: Bool = false
    ) -> Result<Int, Failure> {
        CurlPost.send(
            json,
            contentType: "application/json",
            to: address,
            seconds: seconds,
            deniesPrivateAddresses: deniesPrivateAddresses
        )
    }
}
