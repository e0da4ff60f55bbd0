import Testing

@testable import AtomNetworking

@Suite("Notifications that wait for callers", .limited)
struct HeldNoticesTests {
    private let notices = HeldNotices()
    private let posted = Locked<[Int]>([])

    private func post(_ number: Int) {
        notices.post { [posted] in posted.with { $0.append(number) } }
    }

    @Test("Without a caller that comes first, a notification is posted at once")
    func atOnce() {
        post(1)
        #expect(posted.value == [1])
    }

    @Test("It is posted when the last caller has been told, in order")
    func held() {
        notices.hold()
        notices.hold()
        post(1)
        notices.release()
        post(2)
        #expect(posted.value.isEmpty)
        notices.release()
        #expect(posted.value == [1, 2])
        post(3)
        #expect(posted.value == [1, 2, 3])
    }
}
