#if os(Linux)
    import Testing

    @testable import AtomNetworking

    @Suite(.limited) struct CurlLibraryTests {
        private struct Rule: Sendable {
            let name: String
            let holds: @Sendable (CurlLibrary) -> Bool
            /// The versions of which it holds, two digits for each part but the last.
            let versions: [Range<Int>]
        }

        private static let rules = [
            Rule(name: "tells of sending", holds: \.tellsOfSending, versions: [7_80..<9_00]),
            Rule(name: "counts what it sends", holds: \.countsWhatItSends, versions: [7_68..<8_07, 8_08..<9_00]),
            Rule(name: "counts over TLS", holds: \.countsOverTLS, versions: [7_68..<8_02, 8_08..<9_00]),
            Rule(name: "tells of the response", holds: \.tellsOfResponse, versions: [8_03..<9_00]),
            Rule(name: "holds single streams", holds: \.holdsSingleStreams, versions: [8_04..<9_00]),
            Rule(name: "confuses protocols", holds: \.confusesProtocols, versions: [7_68..<8_05]),
            Rule(name: "forgets what waits", holds: \.forgetsWaiting, versions: [8_10..<9_00]),
            Rule(name: "repeats without Expect", holds: \.repeatsUnexpected, versions: [7_69..<9_00]),
            Rule(name: "cuts a proxy's credentials", holds: \.cutsProxyCredentials, versions: [7_68..<7_71]),
            Rule(name: "decodes a proxy's credentials", holds: \.decodesProxyCredentials, versions: [7_68..<8_08]),
            Rule(name: "uses HTTP/2", holds: \.usesHTTP2, versions: [7_77..<9_00]),
            Rule(name: "forgets why it repeats", holds: \.forgetsWhyItRepeats, versions: [8_19..<9_00]),
            Rule(name: "uses handles again", holds: \.usesHandlesAgain, versions: [7_68..<7_83, 8_02..<9_00]),
        ]

        // As *libcurl on Linux* says it. Most of these can't be met by the suites.
        @Test("What a libcurl can do goes by its release, whatever its patch")
        func releases() {
            for release in Array(7_68...7_88) + Array(8_00...8_30) {
                for patch in [0, 1, 0xFF] {
                    let library = CurlLibrary(
                        version: "", number: UInt32((release / 100) << 16 | (release % 100) << 8 | patch),
                        hasHTTP2: true,
                        hasZlib: true)
                    for rule in Self.rules {
                        let isExpected = rule.versions.contains { $0.contains(release) }
                        #expect(rule.holds(library) == isExpected, "\(release), patch \(patch): \(rule.name)")
                    }
                }
            }
        }

        @Test("Without zlib no coding is asked for")
        func codings() {
            let codings = [true, false].map {
                CurlLibrary(version: "8.9.1", number: 0x08_09_01, hasHTTP2: $0, hasZlib: $0)
            }
            #expect(codings.map(\.contentCodings) == ["gzip, deflate", "identity"])
            #expect(codings.map(\.hasHTTP2) == [true, false])
        }
    }

    extension CurlLibrary {
        /// Whether the transport uses HTTP/2 here.
        static var speaksHTTP2: Bool { (try? loaded.get())?.usesHTTP2 == true }
    }
#endif
