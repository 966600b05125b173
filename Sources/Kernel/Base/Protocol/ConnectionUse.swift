/// The use of connections by a transfer.
package enum ConnectionUse: Hashable, Sendable {
    /// May share an HTTP/2 connection with others or wait for one: many files.
    case shared
    /// Its own TCP connection, HTTP/1.1: segments of one file.
    case separate
}
