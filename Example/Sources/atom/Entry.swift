import AtomCommands

/// The executable: all of it is in AtomCommands, where tests can reach it.
@main enum Entry {
    static func main() async {
        await AtomCommand.main()
    }
}
