#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    /// The sign-in, or the member's screens, and the prompt over them.
    struct RootView: View {
        let account: Account
        let prompt: LoginPrompt

        var body: some View {
            // Read here, so that SwiftUI observes it.
            let isAsked = prompt.isShown
            Group {
                switch account.phase {
                case .starting: ProgressView()
                case .signedOut: SignInView(account: account)
                case .signedIn: MemberView(account: account)
                }
            }
            .task { await account.follow() }
            // Swiped away: the same as closed.
            .sheet(isPresented: Binding(get: { isAsked }, set: { if !$0 { prompt.close() } })) {
                LoginSheet(prompt: prompt)
            }
        }
    }

    /// The member's screens.
    ///
    /// They begin anew with each sign-in.
    private struct MemberView: View {
        let account: Account
        @State private var list: MileageList
        @State private var upload: DocumentUpload

        init(account: Account) {
            self.account = account
            _list = State(initialValue: MileageList(account.service))
            _upload = State(initialValue: DocumentUpload(account.service))
        }

        var body: some View {
            TabView {
                NavigationStack {
                    MileageView(list: list)
                        .toolbar { Button("Sign out") { Task { await account.signOut() } } }
                }
                .tabItem { Label("Miles", systemImage: "airplane") }
                UploadView(upload: upload)
                    .tabItem { Label("Documents", systemImage: "doc") }
            }
        }
    }

    /// Lets tokens expire and sessions end.
    struct ServerMenu: View {
        let demonstration: Demonstration

        var body: some View {
            Menu("Server") {
                Button("Let the access token expire") { demonstration.server?.expireAccessTokens() }
                Button("End the session") { demonstration.server?.endSessions() }
            }
        }
    }
#endif
