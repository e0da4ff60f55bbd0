// refused: ambiguous use of 'post'
import AtomNetworking

struct Book: Requestable {
    // It would be a function, which the SDK doesn't see.
    let method = HTTPMethod.post
    func baseURL() throws(AtomError) -> BaseURL { try BaseURL(host: "api.example.com") }
}
