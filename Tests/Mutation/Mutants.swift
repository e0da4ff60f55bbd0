// The switch of the mutants; the script adds this file to the copy of the SDK.

import Glibc

/// Which mutant is active, and which ones were reached.
public enum Mutants {
    /// The number of the mutant that is active; 0 for none.
    private static let active = getenv("ATOM_MUTANT").flatMap { Int(String(cString: $0)) } ?? 0

    /// A byte for each mutant, in the file that the environment names; `nil` for none.
    ///
    /// Only ones are ever written, so a race between threads doesn't matter.
    private nonisolated(unsafe) static let reached: UnsafeMutablePointer<UInt8>? = {
        guard let path = getenv("ATOM_REACHED") else { return nil }
        let file = open(path, O_RDWR)
        let size = lseek(file, 0, SEEK_END)
        guard file >= 0, let memory = mmap(nil, Int(size), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) else {
            return nil
        }
        close(file)
        return memory.assumingMemoryBound(to: UInt8.self)
    }()

    /// Whether this mutant is active; it was reached.
    public static func on(_ number: Int) -> Bool {
        if let reached { reached[number] = 1 }
        return number == active
    }

    /// One more than the number, if the mutant is active.
    public static func more<Number: Numeric>(_ isOn: Bool, _ number: Number) -> Number { isOn ? number + 1 : number }

    /// One less.
    public static func less<Number: Numeric>(_ isOn: Bool, _ number: Number) -> Number { isOn ? number - 1 : number }
}
