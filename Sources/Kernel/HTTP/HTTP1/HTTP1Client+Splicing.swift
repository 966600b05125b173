import Glibc
import PawlBase

// From the socket to the file without a copy in user space.
extension HTTP1Client {
    /// Below this size, reading and writing is as fast.
    private static let minimumSplice: Int64 = 64 * 1024

    /// The target of the next splice, when one is worthwhile.
    func spliceTarget(_ exchange: HTTP1Exchange, _ connection: HTTP1Socket) -> SpliceTarget? {
        guard connection.ask({ $0.deliversBody }), !exchange.cannotSplice, connection.secure == nil else { return nil }
        switch connection.ask({ $0.body }) {
        case .length(let left): guard left >= Self.minimumSplice else { return nil }
        case .untilClose: break
        case .none, .chunked: return nil
        }
        guard let target = exchange.sink?.spliceTarget(exchange.id), target.limit >= Self.minimumSplice else {
            return nil
        }
        return target
    }

    /// Moves the available bytes and returns their number.
    func splice(_ exchange: HTTP1Exchange, _ connection: HTTP1Socket, to target: SpliceTarget) -> Int {
        guard let pipe else {
            exchange.cannotSplice = true
            return 0
        }
        var most = target.limit
        if case .length(let left) = connection.ask({ $0.body }) { most = min(most, left) }
        switch pipe.fill(from: connection.socket, Int(min(most, Int64(SplicePipe.size)))) {
        case .failed(EAGAIN):
            connection.canRead = false
            return 0
        case .failed(EINVAL), .failed(ENOSYS), .failed(EPERM):
            exchange.cannotSplice = true
            return 0
        case .failed(let error):
            end(connection, connection.machine.lost(TransferFault(receiving: error)))
            return 0
        case .closed:
            end(connection, connection.machine.ended())
            return 0
        case .bytes(let count):
            exchange.sink?.transfer(exchange.id, willSplice: count)
            empty(pipe, count, exchange, connection, to: target)
            return count
        }
    }

    private func empty(
        _ pipe: SplicePipe, _ count: Int, _ exchange: HTTP1Exchange, _ connection: HTTP1Socket, to target: SpliceTarget
    ) {
        let moved = pipe.empty(count, into: target.descriptor, at: target.offset)
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count - moved)])
        if unsafe !rest.isEmpty {
            // The ordinary write reports what is wrong with the file.
            unsafe pipe.empty(rest.count, into: rest)
            exchange.cannotSplice = true
        }
        if moved > 0 {
            connection.machine.took(moved)
            guard let sink = exchange.sink else { return }
            let result = sink.transfer(exchange.id, spliced: moved)
            guard exchange.sink != nil else { return }
            if result == .stop { return end(connection, .stopped) }
        }
        unsafe take(UnsafeRawBufferPointer(rest), connection)
    }
}
