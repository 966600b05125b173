extension NginxServer {
    /// Lets the file `users` know one user.
    ///
    /// The password is written as it is (nginx's own `{PLAIN}` scheme).
    package func allow(user: String, password: String) throws(SystemError) {
        try write("users", "\(user):{PLAIN}\(password)\n")
    }
}
