import CaromGroup
import Testing

@Suite struct GroupChannelTests {
  @Test func `the group's protocols have channels 56 to 63, and the application has all others`() {
    #expect(GroupChannel.allCases.map(\.rawValue) == Array(56...63))
    #expect(GroupChannel.first == 56)
  }

  @Test func `what holds the group together is sent first, and files are sent last`() {
    let first = GroupChannel.allCases.min { $0.priority < $1.priority }
    let last = GroupChannel.allCases.max { $0.priority < $1.priority }
    #expect(first == .mesh)
    #expect(last == .pieces)
    #expect(GroupChannel.allCases.allSatisfy { $0.priority <= 7 })
  }
}
