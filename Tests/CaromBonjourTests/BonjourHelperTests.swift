import CaromBonjour
import Foundation
import TestEvents
import Testing

/// Pairs of helpers in one process, over the loopback interface. The names say which requirements
/// of the BonjourHelper recipe a test proves.
@Suite(.timeLimit(.minutes(1)), .serialized) struct BonjourHelperTests {
  private func makePair() async -> (TestHelper, TestHelper) {
    let id = makeSessionID()
    let (a, b) = (TestHelper(id, name: "Maya"), TestHelper(id, name: "Leo"))
    a.helper.connect()
    b.helper.connect()
    await a.log.wait { $0 == .established }
    await b.log.wait { $0 == .established }
    return (a, b)
  }

  @Test func `BH1 BH2 BH8 BH15: two devices connect once, and data goes both ways`() async {
    let (a, b) = await makePair()
    #expect(a.helper.isConnected && b.helper.isConnected)
    #expect((a.helper.peerName, b.helper.peerName) == ("Leo", "Maya"))
    #expect(a.helper.sendData(Data([1, 2])) == .queued)
    #expect(b.helper.sendData(Data("hello".utf8)) == .queued)
    await b.log.wait { $0 == .data(Data([1, 2])) }
    await a.log.wait { $0 == .data(Data("hello".utf8)) }
    #expect(a.log.events.contains(.sent(nil)))
    a.helper.disconnect()
    await b.log.wait { $0 == .lost }
    await a.log.wait { $0 == .lost }
    #expect(a.connections == [.established, .lost])
    #expect(b.connections == [.established, .lost])
    b.helper.disconnect()
  }

  @Test func `BH3 BH21: the state is one of four, and cancelling leads back to the first`() async {
    let a = TestHelper(makeSessionID())
    #expect(a.helper.state == .idle)
    #expect(a.helper.port == nil)
    a.helper.connect()
    await a.log.wait { $0 == .state(.searching) }
    #expect(a.helper.port ?? 0 > 0)
    a.helper.disconnect()
    #expect(a.helper.state == .idle)
    await a.log.wait { $0 == .state(.idle) }
    // It can begin again at once.
    a.helper.connect()
    await a.log.wait { $0 == .state(.searching) }
    a.helper.disconnect()
  }

  @Test func `BH4: a session identifier is validated, with a reason for each fault`() throws {
    #expect(try BonjourSessionID(validating: "TypingTogether").serviceType.name == "typingtogether")
    #expect(try BonjourSessionID(validating: BonjourHelper.defaultSessionID).text == "carom-pair")
    let faults: [(String, ServiceTypeError)] = [
      ("", .emptyName), ("Sample Session", .invalidCharacter), ("123", .noLetter),
      ("-a", .edgeHyphen), ("a--b", .doubleHyphen), ("abcdefghijklmnop", .nameTooLong(16)),
    ]
    for (text, error) in faults {
      #expect(throws: error) { try BonjourSessionID(validating: text) }
    }
  }

  @Test func `BH5: any text has a valid service type, which never changes`() {
    #expect(BonjourSessionID("Sample Session").serviceType.description == "_bh-4ay62xl3fh6j._udp")
    #expect(BonjourSessionID("chat").serviceType.description == "_chat._udp")
    let types = ["", "Sample Session", "größe", "a b", String(repeating: "x", count: 1000)]
      .map { BonjourSessionID($0).serviceType.name }
    #expect(Set(types).count == 5)
  }

  @Test func `BH9 BH10 BH11: of three devices two pair, and the third waits for its turn`() async {
    let id = makeSessionID()
    let helpers = (0..<3).map { _ in TestHelper(id) }
    for helper in helpers { helper.helper.connect() }
    let paired = EventLog<Int>()
    for (index, helper) in helpers.enumerated() {
      Task {
        await helper.log.wait { $0 == .established }
        paired.add(index)
      }
    }
    let first = await paired.next { $0 }
    let second = await paired.next { $0 }
    guard let first, let second else { return }
    let third = 3 - first - second
    #expect(helpers[first].helper.isConnected && helpers[second].helper.isConnected)
    #expect(!helpers[third].helper.isConnected)
    // When one of the pair leaves, the other two connect.
    helpers[first].helper.disconnect()
    _ = await paired.next { $0 == third ? true : nil }
    await helpers[second].log.wait { $0 == .established }
    #expect(helpers[second].connections == [.established, .lost, .established])
    for helper in helpers { helper.helper.disconnect() }
  }

  @Test func `BH12 BH20: after a loss the two find each other again`() async {
    let (a, b) = await makePair()
    a.helper.disconnect()
    await b.log.wait { $0 == .lost }
    a.helper.connect()
    await a.log.wait { $0 == .established }
    await b.log.wait { $0 == .established }
    #expect(b.connections == [.established, .lost, .established])
    a.helper.disconnect()
    b.helper.disconnect()
  }

  @Test func `BH16: what becomes of data is a value, and a text for the delegate`() async {
    let a = TestHelper(makeSessionID())
    #expect(a.helper.sendData(Data([1])) == .notConnected)
    #expect(a.helper.sendData(Data(count: BonjourHelper.maximumDataLength + 1)) == .tooLarge)
    await a.log.wait { $0 == .sent("there is no connection") }
  }

  @Test func `BH17 BH18 BH19: the end has a reason, and is reported once`() async {
    let (a, b) = await makePair()
    a.helper.disconnect()
    await b.log.wait { $0 == .lost }
    await a.log.wait { $0 == .lost }
    #expect(a.log.events.contains(.ended(.lost(.closedLocally))))
    let ends = b.log.events.filter { if case .ended = $0 { true } else { false } }
    #expect(ends.count == 1)
    let texts = [BonjourHelperError.lost(.left), .notEstablished(.timedOut)].map { "\($0)" }
    #expect(texts[0] != texts[1])
    b.helper.disconnect()
  }

  @Test func `BH23: data that arrives before the delegate is set is kept`() async {
    let id = makeSessionID()
    let (a, b) = (TestHelper(id), TestHelper(id, hasDelegate: false))
    a.helper.connect()
    b.helper.connect()
    await a.log.wait { $0 == .established }
    for number in UInt8(0)..<10 { #expect(a.helper.sendData(Data([number])) == .queued) }
    b.helper.dataDelegate = b
    for number in UInt8(0)..<10 { await b.log.wait { $0 == .data(Data([number])) } }
    #expect(b.connections == [.established])
    a.helper.disconnect()
    b.helper.disconnect()
  }

  @Test func `devices with other identifiers do not meet`() async {
    let (a, b) = await makePair()
    let other = TestHelper(makeSessionID())
    other.helper.connect()
    await other.log.wait { $0 == .state(.searching) }
    #expect(other.connections.isEmpty)
    for helper in [a, b, other] { helper.helper.disconnect() }
  }
}
