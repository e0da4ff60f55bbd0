#if os(Linux) || os(macOS)
    import Foundation
    import Testing

    @testable import AtomNetworking
    @testable import AtomNetworkingExports

    @Suite(.limited) struct ShellWordTests {
        @Test("Plain words stay bare, and all others are in single quotes")
        func quotes() {
            #expect(ShellWord.quoted("PATCH") == "PATCH")
            #expect(ShellWord.quoted("") == "''")
            #expect(ShellWord.quoted("a b") == "'a b'")
            #expect(ShellWord.quoted("$HOME `id` $(id) !x \\") == #"'$HOME `id` $(id) !x \'"#)
            #expect(ShellWord.quoted("it's") == #"'it'\''s'"#)
            #expect(ShellWord.quoted("é…") == "'é…'")
        }

        @Test("A quote that is part of a longer character is quoted too")
        func quoteWithAccent() {
            // As bytes, since the two are equal to nothing else as characters.
            #expect(Array(ShellWord.quoted("'\u{301}").utf8) == Array("''\\''\u{301}'".utf8))
        }

        @Test("What a terminal would obey is written by printf")
        func controls() {
            #expect(ShellWord.quoted("a\u{1B}[2J") == #"'a'"$(printf '\033')"'[2J'"#)
            #expect(ShellWord.quoted("\u{202E}x") == #""$(printf '\342\200\256')"'x'"#)
        }

        @Test("A format writes each byte")
        func formats() {
            #expect(ShellWord.format("50% 'a'\n\\".utf8) == #"'50%% \047a\047\n\\'"#)
            #expect(ShellWord.format("-n-".utf8) == #"'\055n-'"#)
            #expect(ShellWord.format([0, 255, 0x37]) == #"'\000\3777'"#)
        }

        @Test("The shell reads every word and every format as it was")
        func shell() async throws {
            let folder = try TransferFolder()
            var generator = SeededGenerator(seed: 11)
            var script = ""
            var expected = Data()
            for _ in 0..<200 {
                let count = Int.random(in: 0...12, using: &generator)
                // The shell's arguments can't hold NUL.
                let scalars = (0..<count).compactMap { _ in
                    Unicode.Scalar(
                        UInt32.random(in: 1...(Bool.random(using: &generator) ? 0x7F : 0x3100), using: &generator))
                }
                let text = String(String.UnicodeScalarView(scalars)) + "'\u{301}$x"
                script += "printf '%s\\000' \(ShellWord.quoted(text))\n"
                expected += Data(text.utf8) + [0]
                let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
                script += "printf \(ShellWord.format(bytes))\n"
                expected += Data(bytes)
            }
            let ending = try await ShellProgram.run(script, in: folder.url)
            #expect(ending.status == 0)
            #expect(ending.output == expected)
        }
    }
#endif
