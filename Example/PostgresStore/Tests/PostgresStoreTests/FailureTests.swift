import AtomNetworking
import AtomNetworkingTesting
import Foundation
import PostgresStore
import Testing

@Suite(.enabled(if: Database.isThere, "the script Example/PostgresStore/test starts a server"), .limited)
struct FailureTests {
    @Test func anExchangeThatTakesTooLongIsEndedByTheServer() async throws {
        let database = try Database()
        let store = try await database.store()
        try await store.save(.named("old"))
        let slow = try await database.store(store.session) { $0.exchange = .seconds(1) }
        let held = try await HeldExchange(of: slow, storing: .named("new"))
        // It gets its turn while the first one still holds on.
        #expect(try await store.exchange { $0 } == .named("old"))
        await #expect(throws: PostgresStoreError.heldTooLong) { try await held.finish() }
        #expect(try await store.load() == .named("old"))
    }

    @Test func aConnectionThatIsEndedInAnExchangeIsATypedError() async throws {
        let database = try Database()
        let name = UUID().uuidString
        let store = try await database.store(as: name)
        try await store.save(.named("old"))
        let held = try await HeldExchange(of: store, storing: .named("new"))
        let ended = try database.ask(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = '\(name)'")
        #expect(ended == ["t"])
        await #expect(throws: PostgresStoreError.connectionLost(sqlState: "57P01")) { try await held.finish() }
        #expect(try await store.load() == .named("old"))
    }

    @Test func aCommitThatIsCutOffSaysThatNobodyKnows() async throws {
        let database = try Database()
        let (schema, store) = try database.separateStore()
        try await store.prepare()
        try await store.save(.named("old"))
        // The server closes the connection in the middle of the commit.
        try database.ask(
            """
            CREATE FUNCTION \(schema).leave() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER leave AFTER UPDATE ON \(schema).atom_token_credentials
                DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION \(schema).leave()
            """)
        await #expect(throws: PostgresStoreError.outcomeUnknown) { try await store.exchange { _ in .named("new") } }
        #expect(try await store.load() == .named("old"))
    }

    @Test func tablesThatAreNotThereAreAnErrorThatNamesTheRemedy() async throws {
        let database = try Database()
        let store = database.plainStore("x", as: "tests", options: "options=-csearch_path=nowhere")
        let error = try await #require(throws: PostgresStoreError.self) { try await store.load() }
        #expect(error.description == "PostgreSQL has no table for tokens; call prepare() first (42P01).")
    }

    @Test func whatTheServerSaysOfARowStaysThere() async throws {
        let database = try Database()
        let (schema, store) = try database.separateStore()
        try await store.prepare()
        // Its detail quotes the whole row, and a trigger's message may contain anything.
        try database.ask(
            """
            ALTER TABLE \(schema).atom_token_credentials ADD CHECK (credential IS NULL OR session <> 'x');
            CREATE FUNCTION \(schema).shout() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'no %', NEW.credential; END $$;
            """)
        let first = try await #require(throws: PostgresStoreError.self) { try await store.save(.named("secret")) }
        #expect(first == .refused(sqlState: "23514", message: nil))
        try database.ask(
            """
            CREATE TRIGGER shout BEFORE INSERT ON \(schema).atom_token_credentials
                FOR EACH ROW EXECUTE FUNCTION \(schema).shout()
            """)
        let second = try await #require(throws: PostgresStoreError.self) { try await store.save(.named("secret")) }
        #expect(second == .refused(sqlState: "P0001", message: nil))
        #expect(!"\(first) \(second)".contains("secret"))
        #expect(!String(reflecting: second).contains("secret"))
    }

    @Test func somethingElseInTheRowIsReportedAndLeftThere() async throws {
        let database = try Database()
        let store = try await database.store()
        try database.ask(
            """
            INSERT INTO atom_token_credentials (session, credential)
                VALUES ('\(store.session)', '{"access_token": 7, "refresh_token": "secret"}')
            """)
        await #expect(throws: PostgresStoreError.unreadable) { try await store.load() }
        await #expect(throws: PostgresStoreError.unreadable) {
            try await store.exchange { _ in
                Issue.record("the body was called")
                return nil
            }
        }
        #expect(
            try database.ask(
                "SELECT credential->>'refresh_token' FROM atom_token_credentials WHERE session = '\(store.session)'")
                == ["secret"])
    }

    @Test func aWrongPasswordIsNotRepeated() async throws {
        let database = try Database()
        let store = database.plainStore("x", as: "tests", options: "password=wrong-secret")
        let error = try await #require(throws: PostgresStoreError.self) { try await store.load() }
        #expect(error.description.hasPrefix("PostgreSQL can't be reached: "))
        #expect(error.description.contains("password authentication failed"))
        #expect(!"\(error)".contains("wrong-secret"))
    }
}

@Suite(.limited) struct UnreachableTests {
    @Test func aServerThatIsNotThereIsATypedError() async throws {
        let gone = try LoopbackServer { _ in .empty() }
        gone.stop()
        let store = PostgresTokenCredentialStore("host=127.0.0.1 port=\(gone.port) user=u password=top-secret")
        for call in [{ _ = try await store.load() }, { try await store.save(nil) }, { try await store.prepare() }] {
            let error = try await #require(throws: PostgresStoreError.self) { try await call() }
            #expect(error.description.hasPrefix("PostgreSQL can't be reached: "))
            #expect(error.description.contains("refused"))
            #expect(!"\(error)".contains("top-secret"))
        }
        await #expect(throws: PostgresStoreError.self) { try await store.recordRefreshIntent(for: .named("x")) }
        await store.removeRefreshIntent(for: .named("x"))
    }

    @Test(arguments: ["password=top secret host=127.0.0.1", "postgresql://u:top-secret@[host", "secret"])
    func aConnectionStringThatCannotBeReadIsNotQuoted(string: String) async throws {
        let store = PostgresTokenCredentialStore(string)
        let error = try await #require(throws: PostgresStoreError.self) { try await store.load() }
        #expect(error == .invalidConnectionString)
        #expect(!"\(error)".contains("secret"))
    }

    @Test func aStoreDoesNotShowItsConnectionString() {
        let store = PostgresTokenCredentialStore("password=top-secret", session: "partner")
        var dumped = ""
        dump(store, to: &dumped)
        let shown = "\(store) \(String(reflecting: store)) \(dumped)"
        #expect(shown.contains("partner"))
        #expect(!shown.contains("top-secret"))
    }
}
