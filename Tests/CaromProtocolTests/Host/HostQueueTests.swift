import CaromCore
import Testing

@testable import CaromProtocol

/// A host with initiators on streams. It transfers the bytes of a connection only when `pollReady`
/// returns the connection.
private struct QueueFixture {
  var host = Host(makePeer(1), seats: 100)
  var initiators: [(id: ConnectionID, connection: Connection)] = []
  var now = Instant(nanoseconds: 1_000_000)

  mutating func connect() {
    let id = host.makeConnectionID()
    _ = host.accept(id, at: now)
    let peer = makePeer(100 + id.number)
    initiators.append((id, .initiatingOnStream(as: LocalSide(peer), at: now)))
  }

  /// Transfers the bytes of all sides, and admits every peer that requests a seat.
  mutating func exchange() {
    for _ in 0..<10 {
      for index in initiators.indices { transferToHost(index) }
      while let event = host.pollEvent() {
        if case .requested(let id, _, _) = event { host.admit(id, at: now) }
      }
      while let id = host.pollReady() { transferFromHost(id) }
    }
  }

  private mutating func transferToHost(_ index: Int) {
    initiators[index].connection.handleTimeout(at: now)
    guard let bytes = initiators[index].connection.pollStream(queued: 0, at: now) else { return }
    host.receive(bytes.span, on: initiators[index].id, at: now)
  }

  private mutating func transferFromHost(_ id: ConnectionID) {
    while let bytes: [UInt8] = host.pollTransmit(on: id, queued: 0, at: now) {
      guard let index = initiators.firstIndex(where: { $0.id == id }) else { break }
      initiators[index].connection.receive(bytes.span, at: now)
    }
    if host.pollLinkAction(on: id) != nil { initiators.removeAll { $0.id == id } }
    host.didFlush(id, at: now)
  }

  mutating func pollAllReady() -> [ConnectionID] {
    var ids: [ConnectionID] = []
    while let id = host.pollReady() { ids.append(id) }
    return ids
  }

  /// The expected `nextTimeout`: the minimum over copies of all connections.
  var earliestTimeout: Instant? {
    host.connectionIDs.compactMap { host.connection($0)?.nextTimeout }.min()
  }
}

@Suite struct HostQueueTests {
  @Test func `pollReady returns each connection with output once`() throws {
    var fixture = QueueFixture()
    for _ in 1...3 { fixture.connect() }
    fixture.exchange()
    #expect(fixture.pollAllReady() == [])
    let bytes: [UInt8] = [1]
    try fixture.host.send(bytes, on: 0, .unreliableSequenced, to: ConnectionID(2), at: fixture.now)
    try fixture.host.send(bytes, on: 0, .unreliableSequenced, to: ConnectionID(2), at: fixture.now)
    try fixture.host.send(bytes, on: 1, to: ConnectionID(1), at: fixture.now)
    #expect(fixture.pollAllReady() == [ConnectionID(2), ConnectionID(1)])
    #expect(fixture.pollAllReady() == [])
  }

  @Test func `a connection whose stream is full stays ready while it has output`() throws {
    var fixture = QueueFixture()
    fixture.connect()
    fixture.exchange()
    let id = ConnectionID(1)
    let bytes: [UInt8] = [1]
    try fixture.host.send(bytes, on: 0, .unreliableSequenced, to: id, at: fixture.now)
    _ = fixture.pollAllReady()
    let full = SessionLink.queueLimit
    #expect(fixture.host.pollTransmit(on: id, queued: full, at: fixture.now) == nil)
    fixture.host.markReadyIfNeeded(id)
    #expect(fixture.pollAllReady() == [id])
    fixture.exchange()
    _ = fixture.host.pollTransmit(on: id, queued: 0, at: fixture.now)
    fixture.host.markReadyIfNeeded(id)
    #expect(fixture.pollAllReady() == [])
  }

  @Test func `a connection that has ended is neither ready nor in the table`() {
    var fixture = QueueFixture()
    fixture.connect()
    fixture.exchange()
    fixture.host.close(ConnectionID(1), Goodbye(.left), at: fixture.now)
    fixture.host.handleLinkEnd(.reset, of: ConnectionID(1), at: fixture.now)
    #expect(fixture.pollAllReady() == [])
    #expect(fixture.host.connectionIDs == [])
    #expect(fixture.host.nextTimeout == nil)
  }

  @Test func `connections are found in whatever order they were added`() {
    var host = Host(makePeer(1), seats: 1)
    for number: UInt64 in [5, 2, 9, 7] { _ = host.accept(ConnectionID(number), at: .zero) }
    #expect(host.connectionIDs == [2, 5, 7, 9].map { ConnectionID($0) })
    #expect(host.connectionIDs.allSatisfy { host.connection($0) != nil && host.isIncoming($0) })
    #expect(host.connection(ConnectionID(3)) == nil)
  }

  @Test(arguments: 1...20 as ClosedRange<UInt64>)
  func `the next timeout is always the earliest of all connections`(seed: UInt64) {
    var fixture = QueueFixture()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<60 {
      switch UInt8.random(in: 0..<8, using: &generator) {
      case 0, 1: fixture.connect()
      case 2: fixture.now = fixture.now + .milliseconds(.random(in: 1...900, using: &generator))
      case 3: fixture.now = max(fixture.now, fixture.host.nextTimeout ?? fixture.now)
      case 4:
        guard let id = fixture.host.connectionIDs.randomElement(using: &generator) else { continue }
        fixture.host.close(id, Goodbye(.left), at: fixture.now)
      case 5:
        guard let id = fixture.host.connectionIDs.randomElement(using: &generator) else { continue }
        fixture.host.handleLinkEnd(.reset, of: id, at: fixture.now)
      case 6: fixture.host.handleTimeout(at: fixture.now)
      default: fixture.exchange()
      }
      #expect(fixture.host.nextTimeout == fixture.earliestTimeout, "seed \(seed)")
    }
  }
}
