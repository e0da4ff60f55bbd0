import Foundation

/// Why a folder, or a file in it, can't be used.
struct FolderError: Error, Equatable {
    /// `errno`, also with a reason if the system gave one; 0 for none.
    let code: Int32
    /// The system's function.
    let operation: String
    private(set) var isWriting = false
    /// Why it is refused, in words that follow “it can't be used: ”.
    private(set) var reason: String?
    /// What this process may not do if it lacks a permission; it may contain a path.
    private(set) var permission: String?

    init(_ code: Int32, during operation: String, isWriting: Bool = false, permission: String? = nil) {
        (self.code, self.operation, self.isWriting, self.permission) = (code, operation, isWriting, permission)
    }

    static func refused(_ reason: String, code: Int32 = 0) -> FolderError {
        var error = FolderError(code, during: "open")
        error.reason = reason
        return error
    }
}

extension FolderError: RedactedError {
    /// Without the path, which may contain the user's name.
    var description: String {
        reason.map { "It can't be used: \($0)." }
            ?? "\(operation) failed with code \(code) (\(String(cString: strerror(code))))."
    }
}
