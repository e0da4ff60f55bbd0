// refused: ambiguous use of 'post'
// refused: ambiguous use of 'put'
// refused: ambiguous use of 'patch'
import AtomNetworking

// Each would be a function, which the SDK doesn't see.

struct Book: Requestable {
    let method = HTTPMethod.post
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

final class CheckIn: Requestable {
    let method = HTTPMethod.put
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}

struct Change: Requestable {
    let method = HTTPMethod.patch
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}
