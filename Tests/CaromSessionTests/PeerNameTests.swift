import CaromProtocol
import CaromSession
import Testing

@Suite struct PeerNameTests {
  @Test(arguments: [
    ("Maya", "Maya"), ("  Maya \n", "Maya"), ("a\u{1b}[31mb\u{0}", "a[31mb"), ("", ""), (" \t", ""),
    ("Ma\u{2028}ya", "Maya"),
  ])
  func `a name has no control characters and no spaces at its ends`(text: String, name: String) {
    #expect(PeerInfo.name(from: text) == name)
  }

  @Test func `a long name is cut at a character`() {
    let wide = String(repeating: "é", count: 40)
    #expect(PeerInfo.name(from: wide) == String(repeating: "é", count: 31))
    let family = String(repeating: "👩‍👩‍👧", count: 4)
    #expect(PeerInfo.name(from: family) == String(repeating: "👩‍👩‍👧", count: 3))
    #expect(PeerInfo.name(from: String(repeating: "x", count: 62) + " y").utf8.count == 62)
    let name = PeerInfo.name(from: String(repeating: "x", count: 100_000))
    #expect(name.utf8.count == PeerInfo.maximumNameLength)
  }

  @Test func `a description without an id has a random one`() {
    let one = PeerInfo(name: "Maya", application: "chat", applicationVersion: 2)
    let other = PeerInfo(name: "Maya", application: "chat", applicationVersion: 2)
    #expect(one.id != other.id)
    #expect(one.name == "Maya" && one.application == "chat" && one.applicationVersion == 2)
    #expect(!one.isSpectator && !one.yieldsSeat)
  }
}
