import CaromCore
import CaromTransport
import Testing

struct DTLSSessionTests {
  /// Two sides of a connection, and what they have received.
  private final class Pair {
    let identity: DTLSIdentity
    let client: DTLSSession
    let server: DTLSSession
    var buffer = [UInt8](repeating: 0, count: 4_096)
    var atClient: [[UInt8]] = []
    var atServer: [[UInt8]] = []

    init() throws {
      identity = try DTLSIdentity()
      client = try DTLSSession(try DTLSIdentity(), isClient: true)
      server = try DTLSSession(identity)
    }

    /// Passes the output of both sides on until neither has any. `loses` decides which datagrams
    /// are lost.
    func exchange(losing loses: (Int) -> Bool = { _ in false }) {
      var number = 0
      while true {
        let (fromClient, fromServer) = (output(of: client), output(of: server))
        guard !fromClient.isEmpty || !fromServer.isEmpty else { return }
        for datagram in fromClient where !isLost() {
          server.receive(datagram.span, using: &buffer) { atServer.append(Array(copying: $0)) }
        }
        for datagram in fromServer where !isLost() {
          client.receive(datagram.span, using: &buffer) { atClient.append(Array(copying: $0)) }
        }
      }
      func isLost() -> Bool {
        defer { number += 1 }
        return loses(number)
      }
    }

    func output(of side: DTLSSession) -> [[UInt8]] {
      var datagrams: [[UInt8]] = []
      side.removeOutput { datagrams.append(Array(copying: $0)) }
      return datagrams
    }
  }

  @Test func handshakeAndRecords() throws {
    let pair = try Pair()
    pair.client.send([1, 2, 3].span)
    pair.exchange()
    #expect(pair.client.isEstablished && pair.server.isEstablished)
    #expect(pair.client.peerFingerprint == pair.identity.fingerprint)
    #expect(pair.atServer.isEmpty, "before the handshake, nothing can be sent")
    pair.client.send([4, 5].span)
    pair.client.send([6].span)
    pair.server.send([UInt8](repeating: 7, count: DTLSSession.recordLimit).span)
    pair.exchange()
    #expect(pair.atServer == [[4, 5], [6]])
    #expect(pair.atClient == [[UInt8](repeating: 7, count: DTLSSession.recordLimit)])
    pair.server.send([UInt8](repeating: 7, count: DTLSSession.recordLimit + 1).span)
    #expect(pair.output(of: pair.server).isEmpty)
  }

  @Test func datagramsOfTheHandshakeFitTheirPath() throws {
    let pair = try Pair()
    while !pair.client.isEstablished {
      for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
        for datagram in pair.output(of: from) {
          #expect(datagram.count <= 1_200)
          to.receive(datagram.span, using: &pair.buffer) { _ in }
        }
      }
    }
  }

  @Test func severalRecordsInOneDatagram() throws {
    let pair = try Pair()
    pair.exchange()
    pair.client.send([1].span)
    pair.client.send([2].span)
    let joined = pair.output(of: pair.client).flatMap { $0 }
    pair.server.receive(joined.span, using: &pair.buffer) {
      pair.atServer.append(Array(copying: $0))
    }
    #expect(pair.atServer == [[1], [2]])
  }

  @Test func repetitionsAndForgeriesAreIgnored() throws {
    let pair = try Pair()
    pair.exchange()
    pair.client.send([1, 2, 3].span)
    let record = pair.output(of: pair.client)[0]
    var forged = record
    forged[forged.count - 1] ^= 1
    for datagram in [forged, record, record, Array(record.prefix(12)), [22, 254, 253], [0]] {
      pair.server.receive(datagram.span, using: &pair.buffer) {
        pair.atServer.append(Array(copying: $0))
      }
    }
    #expect(pair.atServer == [[1, 2, 3]])
    #expect(pair.server.status == .open)
    pair.client.send([4].span)
    pair.exchange()
    #expect(pair.atServer == [[1, 2, 3], [4]])
  }

  /// With `hasData`, the server has read data, and does without OpenSSL from then on.
  @Test(arguments: [false, true], [false, true])
  func endIsTold(byClient: Bool, hasData: Bool) throws {
    let pair = try Pair()
    pair.exchange()
    if hasData {
      pair.client.send([1].span)
      pair.exchange()
    }
    let (first, second) = byClient ? (pair.client, pair.server) : (pair.server, pair.client)
    first.finish()
    #expect(first.status == .ended)
    pair.exchange()
    #expect(second.status == .ended)
    second.send([1].span)
    #expect(pair.output(of: second).isEmpty)
  }

  @Test func recordsMayComeInAnyOrder() throws {
    let pair = try Pair()
    pair.exchange()
    var records: [[UInt8]] = []
    for number in 0..<200 as Range<UInt8> {
      pair.client.send([number].span)
      records += pair.output(of: pair.client)
    }
    var generator = SeededGenerator(seed: 5)
    // Each record comes twice, and none more than 30 places late.
    let order = (0..<200).flatMap {
      [($0, $0), ($0, $0 + Int.random(in: 1...30, using: &generator))]
    }
    .sorted { $0.1 < $1.1 }.map(\.0)
    for number in order {
      let record = records[number]
      pair.server.receive(record.span, using: &pair.buffer) {
        pair.atServer.append(Array(copying: $0))
      }
    }
    #expect(pair.atServer == (0..<200 as Range<UInt8>).map { [$0] })
    // What is older than the window counts as a repetition.
    let oldest = records[0]
    pair.server.receive(oldest.span, using: &pair.buffer) { _ in
      Issue.record("an old record was accepted")
    }
  }

  @Test func changedRecordsAreIgnored() throws {
    let pair = try Pair()
    pair.client.send([1].span)
    pair.exchange()
    pair.client.send([0].span)
    pair.exchange()
    pair.client.send([UInt8](repeating: 9, count: 100).span)
    let record = pair.output(of: pair.client)[0]
    var generator = SeededGenerator(seed: 6)
    for _ in 0..<20_000 {
      var changed = record
      for _ in 0...Int.random(in: 0...3, using: &generator) {
        changed[Int.random(in: changed.indices, using: &generator)] ^=
          UInt8.random(in: 1...255, using: &generator)
      }
      if Bool.random(using: &generator) {
        changed.removeLast(Int.random(in: 1..<changed.count, using: &generator))
      }
      guard changed != record else { continue }
      pair.server.receive(changed.span, using: &pair.buffer) { _ in
        Issue.record("a changed record was accepted")
      }
    }
    pair.server.receive(record.span, using: &pair.buffer) {
      pair.atServer.append(Array(copying: $0))
    }
    #expect(pair.atServer.last == [UInt8](repeating: 9, count: 100))
    pair.server.send([7].span)
    pair.exchange()
    #expect(pair.atClient == [[7]])
  }

  @Test func lostMessageOfTheHandshakeIsDueAgain() throws {
    let pair = try Pair()
    pair.exchange { $0 == 0 }
    #expect(!pair.server.isEstablished)
    let wait = try #require(pair.client.timeout)
    #expect(wait > .zero && wait <= .seconds(1))
    #expect(pair.server.timeout == nil, "the server waits for the client")
  }

  @Test func garbageBeforeTheHandshakeIsBounded() throws {
    let pair = try Pair()
    let garbage: [UInt8] = [22, 254, 253] + [UInt8](repeating: 0, count: 1_197)
    var count = 0
    while pair.server.status == .open, count < 1_000 {
      pair.server.receive(garbage.span, using: &pair.buffer) { _ in }
      count += 1
    }
    #expect(count < 100)
  }
}
