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

    /// Passes the output of both sides on until neither has any. `loses` decides which datagrams are
    /// lost.
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
    pair.server.receive(joined.span, using: &pair.buffer) { pair.atServer.append(Array(copying: $0)) }
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

  @Test func endIsTold() throws {
    let pair = try Pair()
    pair.exchange()
    pair.client.finish()
    #expect(pair.client.status == .ended)
    pair.exchange()
    #expect(pair.server.status == .ended)
    pair.server.send([1].span)
    #expect(pair.output(of: pair.server).isEmpty)
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
