/// An error response, with a JSON body that explains it.
///
/// ```json
/// {"code": "seat_taken", "message": "Seat 1A on AS100 is taken.", "fields": {"seat": "is taken"}}
/// ```
struct Problem: Error, Encodable {
    let status: Int
    let code: String
    let message: String
    /// The invalid fields of the request, with reasons.
    let fields: [String: String]?
    let headers: [(name: String, value: String)]

    init(
        _ status: Int,
        _ code: String,
        _ message: String,
        fields: [String: String]? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.fields = fields
        self.headers = headers
    }

    enum CodingKeys: String, CodingKey {
        case code
        case message
        case fields
    }

    var reply: Reply {
        var reply = Reply.json(self, status: status)
        reply.headers += headers
        reply.note = code
        return reply
    }
}
