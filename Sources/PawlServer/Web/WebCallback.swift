import CWebSockets

/// libwebsockets calls this for everything; 0 goes on, anything else closes the connection.
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
    let bytes = unsafe UnsafeRawBufferPointer(start: input, count: unsafe input == nil ? 0 : length)
    let goesOn: Bool
    switch reason {
    case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED: goesOn = unsafe loop.admits(wsi)
    case LWS_CALLBACK_HTTP: goesOn = unsafe loop.headArrived(wsi)
    case LWS_CALLBACK_HTTP_BODY: goesOn = unsafe loop.bodyArrived(wsi, bytes)
    case LWS_CALLBACK_HTTP_BODY_COMPLETION:
        unsafe loop.bodyIsComplete(wsi)
        goesOn = true
    case LWS_CALLBACK_HTTP_WRITEABLE: goesOn = unsafe loop.sendAnswer(wsi)
    case LWS_CALLBACK_TIMER:
        // An answer that was held back.
        _ = unsafe lws_callback_on_writable(wsi)
        goesOn = true
    case LWS_CALLBACK_FILTER_PROTOCOL_CONNECTION: goesOn = unsafe loop.socketIsAskedFor(wsi)
    case LWS_CALLBACK_ESTABLISHED:
        unsafe loop.socketStands(wsi)
        goesOn = true
    case LWS_CALLBACK_RECEIVE: goesOn = unsafe loop.messageArrived(wsi, bytes)
    case LWS_CALLBACK_SERVER_WRITEABLE: goesOn = unsafe loop.sendMessage(wsi)
    case LWS_CALLBACK_WSI_DESTROY:
        unsafe loop.forget(wsi)
        goesOn = true
    case LWS_CALLBACK_EVENT_WAIT_CANCELLED:
        loop.readMail()
        goesOn = true
    default: goesOn = true
    }
    return goesOn ? 0 : -1
}
