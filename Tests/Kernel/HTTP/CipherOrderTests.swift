import Testing

@testable import PawlHTTP

@Suite struct CipherOrderTests {
    @Test func `of two ciphers that differ only in the key the shorter one is first`() {
        let order = CipherOrder(of: [
            "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256", "TLS_AES_128_GCM_SHA256",
            "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
            "ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-SHA384", "AES256-SHA",
        ])
        #expect(order.current == "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        #expect(
            order.older == "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
                + "ECDHE-RSA-AES128-GCM-SHA256:ECDHE-RSA-AES256-GCM-SHA384:"
                + "ECDHE-RSA-CHACHA20-POLY1305:ECDHE-RSA-AES256-SHA384:AES256-SHA")
    }

    @Test func `ciphers disabled by the system are not enabled, and a correct order is kept`() {
        let strict = CipherOrder(of: ["TLS_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"])
        #expect(strict == CipherOrder(of: []))
        #expect(strict.current == nil && strict.older == nil)
        let right = CipherOrder(of: ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"])
        #expect(right.current == nil)
    }
}
