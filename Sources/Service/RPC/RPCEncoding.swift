package import PawlBase

/// An encoding of calls and responses other than JSON.
package struct RPCEncoding: Sendable {
    /// As messages name it.
    package let name: String
    package let contentType: String
    /// `nil` if the message is invalid.
    package let parse: @Sendable ([UInt8]) -> RPCCall?
    /// The response to a call of this method.
    package let encode: @Sendable (_ reply: JSON, _ method: String) -> [UInt8]

    package init(
        name: String, contentType: String, parse: @escaping @Sendable ([UInt8]) -> RPCCall?,
        encode: @escaping @Sendable (_ reply: JSON, _ method: String) -> [UInt8]
    ) {
        self.name = name
        self.contentType = contentType
        self.parse = parse
        self.encode = encode
    }
}
