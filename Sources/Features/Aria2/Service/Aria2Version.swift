/// The version of aria2 whose behavior is reproduced, as the command line and RPC report it.
package enum Aria2Version {
    package static let text = "1.36.0"

    package static let features = ["Async DNS", "GZip", "HTTPS", "Message Digest", "Metalink", "XML-RPC", "SFTP"]
}
