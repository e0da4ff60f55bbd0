#if os(Linux)
    /// PEM blocks for tests that make no handshake.
    enum TestPEM {
        /// A certificate of nobody, whose key has been thrown away.
        static let certificate = """
            -----BEGIN CERTIFICATE-----
            MIIBczCCARmgAwIBAgIUai6bYWS50SAHPr5eoRxLyMWk1OgwCgYIKoZIzj0EAwIw
            DzENMAsGA1UEAwwEdGVzdDAeFw0yNjExMjIwNTU2MjlaFw0zNjExMTkwNTU2Mjla
            MA8xDTALBgNVBAMMBHRlc3QwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR7OEJs
            RtyEYL3GBzVu49buOqRxdw2iXSURKeEn2iDYfZ0hHaYoA+UjrXG7s+ady/Po0PGq
            z29Tn9cVvQA7+8Huo1MwUTAdBgNVHQ4EFgQU9+trMLXdGCcEZlQ2FTbg5z20tHAw
            HwYDVR0jBBgwFoAU9+trMLXdGCcEZlQ2FTbg5z20tHAwDwYDVR0TAQH/BAUwAwEB
            /zAKBggqhkjOPQQDAgNIADBFAiA7+Cs16sS3XddR9nYchYGyfFsU82J4Lf2touHK
            vvDIOQIhAJM25g9TgnebUY2KgmhpeRt4SlMRWxd8dTgioYbut8zU
            -----END CERTIFICATE-----

            """

        /// A block that looks like a key, and is an empty sequence.
        static let key = block("PRIVATE KEY", "MAA=")

        static func block(_ label: String, _ content: String) -> String {
            "-----BEGIN \(label)-----\n\(content)\n-----END \(label)-----\n"
        }
    }
#endif
