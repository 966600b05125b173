extension NginxServer {
    /// Writes the file `users` with one user.
    package func allow(user: String, password: String) throws(SetupFailure) {
        let hash = try PawlProcess.run("/usr/bin/openssl", ["passwd", "-apr1", password]).output
        try write("users", "\(user):\(hash)")
    }
}
