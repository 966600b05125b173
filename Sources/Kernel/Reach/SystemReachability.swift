/// This system's way to watch the network.
package typealias SystemReachability = NetlinkReachability
