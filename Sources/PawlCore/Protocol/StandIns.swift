// Stands in for the parsers that land next; whoever lands NamingPolicy, RetryAfter and RangeOption deletes this file.
enum RetryAfter { static func parse(_ t: String, now: UnixTime) -> Span? { nil } }
package enum NamingPolicy: String, Sendable { case server, url, hash
 package static func choose(_ p: NamingPolicy, address: WebAddress, head: ResponseHead?) -> String { address.lastPathComponent } }
package enum RangeOption { package static func parse(_ t: String) throws(Failure) -> RequestedRange { .whole } }
