import Glibc
import Testing

@testable import PawlBase
@testable import PawlCurl
@testable import PawlHTTP

/// libcurl's and OpenSSL's texts, as users read them.
@Suite struct CurlErrorTextTests {
    @Test(arguments: [
        (
            "TLS connect error: error:0A00010B:SSL routines::wrong version number",
            "the server does not use TLS on this port (wrong version number)"
        ),
        (
            "OpenSSL/3.5.1: error:0A000410:SSL routines::ssl/tls alert handshake failure",
            "the TLS handshake failed: ssl/tls alert handshake failure"
        ),
        (
            "OpenSSL SSL_read: OpenSSL/3.0.19: error:0A00045C:SSL routines::tlsv13 alert certificate required, errno 0",
            "the server requires a client certificate"
        ),
        (
            "OpenSSL/3.0.19: error:0A000412:SSL routines::sslv3 alert bad certificate",
            "the server rejects the client certificate"
        ),
        ("SSL certificate problem: self-signed certificate", "its certificate is not trusted: self-signed certificate"),
        (
            "SSL: no alternative certificate subject name matches target host name 'h'",
            "its certificate is for another host"
        ), ("Could not resolve host: h.invalid", "cannot resolve the host name h.invalid"),
        ("Connection timed out after 10001 milliseconds", "no connection within 10.0 s"),
        ("Empty reply from server", "the connection was closed without a response"),
        ("CONNECT tunnel failed, response 407", "the proxy refused to open a tunnel (407)"), ("one\ntwo", "one"),
        ("", ""), ("error:", "error:"), ("::error:", "::error:"),
    ]) func `texts lose codes and times`(text: String, words: String) {
        #expect(CurlErrorText.worded(text, systemError: 0).description == words)
    }

    @Test func `a late connection names the proxy, unless it may be bypassed`() {
        let text = "Connection timed out after 2001 milliseconds"
        let proxy = "socks5h://u:p@h:1"
        #expect(
            CurlErrorText.worded(text, systemError: 0, proxy: proxy).description
                == "no connection by way of the proxy socks5h://h:1 within 2.0 s")
        #expect(
            CurlErrorText.worded(text, systemError: 0, proxy: proxy, mayBypass: true).description
                == "no connection within 2.0 s")
    }

    @Test func `a refused connection names the place and the system's reason`() {
        let text = "Failed to connect to h port 1 after 0 ms: Could not connect to server"
        #expect(CurlErrorText.worded(text, systemError: 0).description == "no connection to h port 1")
        #expect(
            CurlErrorText.worded(text, systemError: ECONNREFUSED).description
                == "no connection to h port 1: connection refused")
    }

    @Test(arguments: [
        ("http://h:1", "http://h:1"), ("h:1", "h:1"), ("socks5h://u:p@H:1/x?y", "socks5h://H:1"), ("u:p@h", "h"),
        ("https://h:1/", "https://h:1"),
    ]) func `a refused proxy is named as it was given, without its login`(proxy: String, shown: String) {
        let text = "Failed to connect to h port 1 after 0 ms: Could not connect to server"
        #expect(CurlErrorText.isOf(proxy: proxy, text))
        #expect(
            CurlErrorText.worded(text, systemError: ECONNREFUSED, proxy: proxy).description
                == "no connection to the proxy \(shown): connection refused")
    }

    @Test(arguments: ["http://h:12", "http://g:1", "http://1"]) func `a refused host is not the proxy`(proxy: String) {
        let text = "Failed to connect to h port 1 after 0 ms: Could not connect to server"
        #expect(!CurlErrorText.isOf(proxy: proxy, text))
        #expect(!CurlErrorText.worded(text, systemError: 0, proxy: proxy).description.contains("proxy"))
    }
}
