import CPawlSystem
import Glibc
import PawlBase
import PawlSystem

/// Where connections begin: an interface, or an address of this machine.
enum InterfaceBinding {
    case device(String)
    case address([UInt8])

    init(_ text: String) throws(TransferFault) {
        if unsafe if_nametoindex(text) != 0 {
            self = .device(text)
        } else if let bytes = NumericAddress.bytes(of: text) {
            self = .address(bytes)
        } else {
            throw .missingInterface(text)
        }
    }
}

/// Opens the sockets of connections.
enum SocketOpener {
    enum Opening {
        case connected(Int32)
        /// A later event reports the end.
        case pending(Int32)
    }

    /// Begins a connection; `interface`: the setting of that name.
    static func open(_ endpoint: Endpoint, from interface: String?) throws(TransferFault) -> Opening {
        guard case .address(let bytes, let zone, let port) = endpoint else {
            throw TransferFault(connecting: SystemError(number: EAFNOSUPPORT))
        }
        var (device, source): (String?, [UInt8]?) = (nil, nil)
        if let interface {
            switch try InterfaceBinding(interface) {
            case .device(let name): device = name
            case .address(let address):
                guard address.count == bytes.count else { throw .missingInterface(interface) }
                source = address
            }
        }
        let scope = zone.map { zone in unsafe UInt32(zone) ?? if_nametoindex(zone) } ?? 0
        var established: Int32 = 0
        let socket = unsafe bytes.withUnsafeBufferPointer { bytes in
            unsafe (device ?? "").withCString { name in
                unsafe (source ?? []).withUnsafeBufferPointer { own in
                    var route = unsafe pawl_route(
                        address: bytes.baseAddress, length: bytes.count, zone: scope, port: port,
                        device: device == nil ? nil : name, source: source == nil ? nil : own.baseAddress)
                    return unsafe pawl_connect(&route, &established)
                }
            }
        }
        if socket >= 0 { return established != 0 ? .connected(socket) : .pending(socket) }
        let error = SystemError.last
        if let interface, error.number == EADDRNOTAVAIL || error.number == ENODEV { throw .missingInterface(interface) }
        throw TransferFault(connecting: error)
    }

    /// Why a connection that was pending is not established; `nil` if it is.
    static func fault(of socket: Int32) -> TransferFault? {
        let error = pawl_connection_error(socket)
        return error == 0 ? nil : TransferFault(connecting: SystemError(number: error))
    }
}

extension TransferTiming {
    /// Notes the addresses of a connection.
    mutating func noteEnds(of socket: Int32) {
        remote = Self.end(of: socket, isPeer: true)
        local = Self.end(of: socket, isPeer: false)
    }

    private static func end(of socket: Int32, isPeer: Bool) -> Endpoint? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let port = unsafe pawl_socket_end(socket, isPeer ? 1 : 0, &text, text.count)
        guard port >= 0 else { return nil }
        let address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return Endpoint(address: address, port: Int(port))
    }
}
