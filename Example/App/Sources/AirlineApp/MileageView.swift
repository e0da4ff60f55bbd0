#if canImport(SwiftUI)
    import Airline
    import SwiftUI

    struct MileageView: View {
        let list: MileageList
        let upgrade: FlightUpgrade

        var body: some View {
            List {
                Section {
                    Button("Upgrade flight AS100 for 15,000 miles") { Task { await upgrade.order(for: "AS100") } }
                        .disabled(upgrade.isOrdering)
                    if let message = upgrade.message { Text(message) }
                }
                if let message = list.message {
                    Text(message).foregroundStyle(.red)
                }
                ForEach(list.activities) { activity in
                    LabeledContent(activity.title, value: "\(activity.miles) miles")
                        .onAppear {
                            // A task of the row would end when the row scrolls away.
                            guard activity == list.activities.last else { return }
                            Task { await list.loadMore() }
                        }
                }
                if list.hasMore {
                    Button("More") { Task { await list.loadMore() } }
                        .disabled(list.isLoading)
                }
            }
            .navigationTitle("Miles")
            .refreshable { await list.refresh() }
            .task { await list.refresh() }
        }
    }
#endif
