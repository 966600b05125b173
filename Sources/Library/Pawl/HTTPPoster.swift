package import PawlBase
import PawlCurl

/// Posts a small body to a URL, independently of all downloads.
package enum HTTPPoster {
    /// Blocks the calling thread; returns the response's status, or the reason why there was none.
    package static func send(
        _ json: [UInt8], to address: String, seconds: Int = 10, deniesPrivateAddresses: Bool = false
    ) -> Result<Int, Failure> {
        CurlPost.send(
            json, contentType: "application/json", to: address, seconds: seconds,
            deniesPrivateAddresses: deniesPrivateAddresses)
    }
}
