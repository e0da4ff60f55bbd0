/// What two requests have in common that can share an exchange.
///
/// Both are GETs. Texts are compared by bytes: a string of Swift's is equal to others that a server tells apart.
struct SharingKey: Hashable, Sendable {
    private let target: TargetURL
    /// The header fields with the service's cookies, in order, with the names in lower case.
    private let fields: [UInt8]
    private let requiresAuthorization: Bool
    private let takesSigners: Bool
    private let keeping: PreparedRequest.Keeping
    private let acceptableStatusCodes: ClosedRange<Int>
    private let idleNanoseconds: Int64
    private let totalNanoseconds: Int64
    private let retryPolicy: RetryPolicy
    private let idempotency: Idempotency
    /// For a link: it is refused when others are not.
    private let person: Tenure?
    /// Whose it is; its cookies are among the fields.
    let tenure: Tenure

    /// Reads whose session it is, in the caller's isolation, unless that is given.
    init(_ request: borrowing PreparedRequest, _ manager: RequestableQueueManager, of owner: Tenure? = nil) {
        target = request.target
        requiresAuthorization = request.requiresAuthorization
        takesSigners = request.takesSigners
        keeping = request.keeping
        acceptableStatusCodes = request.acceptableStatusCodes
        idleNanoseconds = request.timeouts.idleNanoseconds
        totalNanoseconds = request.timeouts.totalNanoseconds
        retryPolicy = request.retrying?.policy ?? manager.retryPolicy
        person = request.tenure?.with(cookiesOf: .nobody)
        idempotency = request.retrying?.idempotency ?? .byMethod
        // The cookies of a person who has signed in with them are another person's after the next sign-in.
        tenure = owner ?? manager.tenure
        let (given, mayHaveCookies) = manager.cookies.give(to: tenure)

        var fields: [UInt8] = []
        // No value holds a line break, so the text is not ambiguous.
        func add(_ name: String, _ value: String) {
            fields += name.lowercased().utf8
            fields.append(UInt8(ascii: ":"))
            fields += value.utf8
            fields.append(UInt8(ascii: "\n"))
        }
        for field in request.headerFields { add(field.name, field.value) }
        if mayHaveCookies, !request.headerFields.contains("Cookie"),
            let cookie = manager.cookies.field(for: request.target.cookieAddress, of: given, at: manager.time.date)
        {
            add("Cookie", cookie)
        }
        self.fields = fields
    }
}

extension SharingKey: Redacted {}
