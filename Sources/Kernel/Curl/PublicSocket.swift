import CCurl
import Glibc
import PawlBase

/// libcurl's callback for a new socket; returns none for a private address.
func openPublicSocket(
    _ data: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ requested: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let data = unsafe data, let requested = unsafe requested else { return pawl_no_socket }
    let handle = unsafe Unmanaged<EasyHandle>.fromOpaque(data).takeUnretainedValue()
    let family = unsafe requested.pointee.family
    let bytes = unsafe addressBytes(requested)
    guard !PrivateNetworks.contains(bytes) else {
        handle.deniedAddress = addressText(bytes, family)
        return pawl_no_socket
    }
    return unsafe socket(family, requested.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), requested.pointee.protocol)
}

/// The address without port and zone; empty for other families.
private func addressBytes(_ requested: UnsafeMutablePointer<curl_sockaddr>) -> [UInt8] {
    guard let place = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return [] }
    let start = unsafe UnsafeRawPointer(requested) + place
    switch unsafe requested.pointee.family {
    case AF_INET:
        guard let offset = MemoryLayout<sockaddr_in>.offset(of: \.sin_addr) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start + offset, count: 4))
    case AF_INET6:
        guard let offset = MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr) else { return [] }
        return unsafe Array(UnsafeRawBufferPointer(start: start + offset, count: 16))
    default: return []
    }
}

private func addressText(_ bytes: [UInt8], _ family: Int32) -> String {
    var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
    let isText = unsafe bytes.withUnsafeBytes { bytes in
        unsafe inet_ntop(family, bytes.baseAddress, &text, socklen_t(text.count)) != nil
    }
    guard isText else { return "of an unknown form" }
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
}
