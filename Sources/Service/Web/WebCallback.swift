import CWebSockets

/// The callback of libwebsockets for all events; 0 keeps the connection, any other value closes it.
func webCallback(
    _ wsi: OpaquePointer?, _ reason: lws_callback_reasons, _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?, _ length: Int
) -> Int32 {
    guard let wsi = unsafe wsi, let context = unsafe lws_get_context(wsi), let owner = unsafe lws_context_user(context)
    else { return 0 }
    let loop = unsafe Unmanaged<WebLoop>.fromOpaque(owner).takeUnretainedValue()
    let continues: Bool
    switch reason {
    // Of the listener, before there is a connection.
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: continues = unsafe loop.hasRoom(at: wsi)
    case LWS_CALLBACK_RAW_ADOPT:
        unsafe loop.connected(wsi)
        continues = true
    case LWS_CALLBACK_RAW_RX: continues = unsafe loop.arrived(wsi, UnsafeRawBufferPointer(start: input, count: length))
    case LWS_CALLBACK_RAW_WRITEABLE: continues = unsafe loop.isWritable(wsi)
    case LWS_CALLBACK_TIMER:
        // A delayed response.
        _ = unsafe lws_callback_on_writable(wsi)
        continues = true
    case LWS_CALLBACK_WSI_DESTROY:
        unsafe loop.forget(wsi)
        continues = true
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        loop.drainMailbox()
        continues = true
    default: continues = true
    }
    return continues ? 0 : -1
}
