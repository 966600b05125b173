extension Behaviour {
    /// A response that is not the content.
    package struct SubstituteResponse: Sendable {
        package var status: Int
        package var lines: [String]
        package var body: [UInt8]
        /// `false`: no Content-Length; the end of the connection ends the body.
        package var hasLength: Bool

        package init(_ status: Int, lines: [String] = [], body: String = "", hasLength: Bool = true) {
            self.status = status
            self.lines = lines
            self.body = Array(body.utf8)
            self.hasLength = hasLength
        }

        /// An error page of a few hundred bytes, which must never be taken for content.
        package static func status(_ status: Int, retryAfter: String? = nil) -> SubstituteResponse {
            let page = String(repeating: "<p>This is the page of an error, not the file.</p>\n", count: 8)
            let wait = retryAfter.map { ["Retry-After: \($0)"] } ?? []
            return SubstituteResponse(status, lines: ["Content-Type: text/html"] + wait, body: page)
        }

        /// A captive portal's page or that of an expired session: 200 and HTML.
        package static let loginPage = SubstituteResponse(
            200, lines: ["Content-Type: text/html; charset=utf-8"],
            body: "<!DOCTYPE html><html><title>Log in</title><form>Please log in to go on.</form></html>\n")

        package static func redirect(to location: String, status: Int = 302) -> SubstituteResponse {
            let body = "<a href=\"\(location)\">moved</a>"
            return SubstituteResponse(status, lines: ["Location: \(location)"], body: body)
        }
    }
}
