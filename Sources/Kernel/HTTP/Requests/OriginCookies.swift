package import PawlBase

/// Receives the cookies of an origin, as lines of the Netscape format: those that it started with, and those that it has.
package typealias CookieReceiver = @Sendable (_ loaded: [String], _ current: [String]) -> Void

package final class OriginCookies {
    package init(onEnd: CookieReceiver?) {}
    package func field(for request: TransferRequest) throws(TransferFault) -> String? { nil }
    package func store(_ fields: [String], from request: TransferRequest) {}
}
