import CaromCore
import Testing

@testable import CaromProtocol

/// A host with callers whose bytes go to and fro link by link, as `pollReady` says.
private struct Hall {
  var host = Host(makePeer(1), seats: 100)
  var callers: [(link: ConnectionID, connection: Connection)] = []
  var now = Instant(nanoseconds: 1_000_000)

  mutating func call() {
    let link = host.makeConnectionID()
    _ = host.accept(link, at: now)
    let peer = makePeer(100 + link.number)
    callers.append((link, .requesting(as: peer, timing: SessionTiming(), at: now)))
  }

  /// Carries what every side has, and admits whoever asks.
  mutating func settle() {
    for _ in 0..<10 {
      for index in callers.indices { carryUp(index) }
      while let event = host.pollEvent() {
        if case .requested(let link, _, _) = event { host.admit(link, at: now) }
      }
      while let link = host.pollReady() { carryDown(link) }
    }
  }

  private mutating func carryUp(_ index: Int) {
    callers[index].connection.handleTimeout(at: now)
    guard let bytes = callers[index].connection.pollStream(queued: 0, at: now) else { return }
    host.receive(bytes.span, on: callers[index].link, at: now)
  }

  private mutating func carryDown(_ link: ConnectionID) {
    while let bytes: [UInt8] = host.pollTransmit(on: link, queued: 0, at: now) {
      guard let index = callers.firstIndex(where: { $0.link == link }) else { break }
      callers[index].connection.receive(bytes.span, at: now)
    }
    if host.pollLinkAction(on: link) != nil { callers.removeAll { $0.link == link } }
    host.didFlush(link, at: now)
  }

  mutating func ready() -> [ConnectionID] {
    var links: [ConnectionID] = []
    while let link = host.pollReady() { links.append(link) }
    return links
  }

  /// What `nextTimeout` has to be, the slow way.
  var earliestTimeout: Instant? {
    host.connectionIDs.compactMap { host.connection($0)?.nextTimeout }.min()
  }
}

@Suite struct HostQueueTests {
  @Test func `only links with something to say are ready, each told once`() throws {
    var hall = Hall()
    for _ in 1...3 { hall.call() }
    hall.settle()
    #expect(hall.ready() == [])
    let bytes: [UInt8] = [1]
    try hall.host.send(bytes, on: 0, .unreliableSequenced, to: ConnectionID(2), at: hall.now)
    try hall.host.send(bytes, on: 0, .unreliableSequenced, to: ConnectionID(2), at: hall.now)
    try hall.host.send(bytes, on: 1, to: ConnectionID(1), at: hall.now)
    #expect(hall.ready() == [ConnectionID(2), ConnectionID(1)])
    #expect(hall.ready() == [])
  }

  @Test func `a link without room remains ready while it has something`() throws {
    var hall = Hall()
    hall.call()
    hall.settle()
    let link = ConnectionID(1)
    let bytes: [UInt8] = [1]
    try hall.host.send(bytes, on: 0, .unreliableSequenced, to: link, at: hall.now)
    _ = hall.ready()
    let full = SessionLink.queueLimit
    #expect(hall.host.pollTransmit(on: link, queued: full, at: hall.now) == nil)
    hall.host.markReadyIfNeeded(link)
    #expect(hall.ready() == [link])
    hall.settle()
    _ = hall.host.pollTransmit(on: link, queued: 0, at: hall.now)
    hall.host.markReadyIfNeeded(link)
    #expect(hall.ready() == [])
  }

  @Test func `a link that ends is no longer ready, nor found`() {
    var hall = Hall()
    hall.call()
    hall.settle()
    hall.host.close(ConnectionID(1), Goodbye(.left), at: hall.now)
    hall.host.handleLinkEnd(.reset, of: ConnectionID(1), at: hall.now)
    #expect(hall.ready() == [])
    #expect(hall.host.connectionIDs == [])
    #expect(hall.host.nextTimeout == nil)
  }

  @Test func `links are found whatever the order in which they were taken`() {
    var host = Host(makePeer(1), seats: 1)
    for number: UInt64 in [5, 2, 9, 7] { _ = host.accept(ConnectionID(number), at: .zero) }
    #expect(host.connectionIDs == [2, 5, 7, 9].map { ConnectionID($0) })
    #expect(host.connectionIDs.allSatisfy { host.connection($0) != nil && host.isIncoming($0) })
    #expect(host.connection(ConnectionID(3)) == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the next timeout is the earliest of all, whatever happens`(seed: UInt64) {
    var hall = Hall()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      switch UInt8.random(in: 0..<8, using: &generator) {
      case 0, 1: hall.call()
      case 2: hall.now = hall.now + .milliseconds(.random(in: 1...900, using: &generator))
      case 3: hall.now = max(hall.now, hall.host.nextTimeout ?? hall.now)
      case 4:
        guard let link = hall.host.connectionIDs.randomElement(using: &generator) else { continue }
        hall.host.close(link, Goodbye(.left), at: hall.now)
      case 5:
        guard let link = hall.host.connectionIDs.randomElement(using: &generator) else { continue }
        hall.host.handleLinkEnd(.reset, of: link, at: hall.now)
      case 6: hall.host.handleTimeout(at: hall.now)
      default: hall.settle()
      }
      #expect(hall.host.nextTimeout == hall.earliestTimeout, "seed \(seed)")
    }
  }
}
