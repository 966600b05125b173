import CWebSockets

/// The callback of libwebsockets for all events; 0 keeps the connection, any other value closes it.
func webCallback(
    _ wsi: OpaquePointer?,
    _ reason: lws_callback_reasons,
    _ user: UnsafeMutableRawPointer?,
    _ input: UnsafeMutableRawPointer?,
    _ length: Int
) -> Int32 {
    guard let wsi = unsafe wsi, let context = unsafe lws_get_context(wsi),
        let owner = unsafe lws_context_user(context)
    else { return 0 }
    let loop = unsafe Unmanaged<WebLoop>.fromOpaque(owner).takeUnretainedValue()
    let goesOn: Bool
    switch reason {
    // Of the listener, before there is a connection.
    case LWS_CALLBACK_FILTER_NETWORK_CONNECTION: goesOn = unsafe loop.hasRoom(at: wsi)
    case LWS_CALLBACK_RAW_ADOPT:
        unsafe loop.connected(wsi)
        goesOn = true
    case LWS_CALLBACK_RAW_RX:
        goesOn = unsafe loop.arrived(wsi, UnsafeRawBufferPointer(start: input, count: length))
    case LWS_CALLBACK_RAW_WRITEABLE: goesOn = unsafe loop.isWritable(wsi)
    case LWS_CALLBACK_TIMER:
        // A delayed response.
        _ = unsafe lws_callback_on_writable(wsi)
        goesOn = true
    case LWS_CALLBACK_WSI_DESTROY:
        unsafe loop.forget(wsi)
        goesOn = true
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        loop.drainMailbox()
        goesOn = true
    default: goesOn = true
    }
    return goesOn ? 0 : -1
}
