#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    /// The sign-in, or the member's screens.
    struct RootView: View {
        let account: Account

        var body: some View {
            Group {
                switch account.phase {
                case .starting: ProgressView()
                case .signedOut: SignInView(account: account)
                case .signedIn: MemberView(account: account)
                }
            }
            .task { await account.follow() }
        }
    }

    /// The member's screens.
    ///
    /// They begin anew with each sign-in.
    private struct MemberView: View {
        let account: Account
        @State private var list: MileageList
        @State private var upgrade: FlightUpgrade
        @State private var upload: DocumentUpload

        init(account: Account) {
            self.account = account
            _list = State(initialValue: MileageList(account.service))
            _upgrade = State(initialValue: FlightUpgrade(account.service))
            _upload = State(initialValue: DocumentUpload(account.service))
        }

        var body: some View {
            TabView {
                NavigationStack {
                    MileageView(list: list, upgrade: upgrade)
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
