import AtomCommands

/// The executable; all of its code is in AtomCommands, so that tests can use it.
@main enum Entry {
    static func main() async {
        await AtomCommand.main()
    }
}
