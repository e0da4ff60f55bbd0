/// Endpoints that need a user name and a password (RFC 7617).
struct MemberEndpoints {
    let users: [String: String]

    func install(on router: inout Router) {
        let users = users

        router.on("GET", "/me") { call in
            guard let given = BasicCredentials(authorization: call.header("Authorization")),
                let password = users[given.user], password == given.password
            else {
                throw Problem(
                    401,
                    "wrong_credentials",
                    "The user name or the password is missing or wrong.",
                    headers: [("WWW-Authenticate", "Basic realm=\"airline\", charset=\"UTF-8\"")]
                )
            }
            return .json(Member(name: given.user))
        }
    }
}

/// A member in the API.
struct Member: Encodable, Sendable {
    let name: String
    var tier = "gold"
    var miles = 48_213
}
