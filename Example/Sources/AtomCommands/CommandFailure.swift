/// An error message for the user of a command.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String
}
