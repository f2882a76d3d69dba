import CaromCore
import Testing

@testable import CaromProtocol

/// Links that are encrypted below the session, for example by TLS, and need no handshake of ours.
@Suite struct SealedStreamTests {
  private let key = ConnectionKey(prefix: 1, rest: 2)

  /// Two hosts joined by a stream. `isSealed` tells whether each side marks it as encrypted.
  private struct Pair {
    let now = Instant(nanoseconds: 1_000_000_000)
    var host: Host
    var client: Host
    let (hostID, clientID): (ConnectionID, ConnectionID)
    private(set) var hostEvents: [HostEvent] = []
    private(set) var clientEvents: [HostEvent] = []
    private(set) var isDialed = false

    init(
      host hostRequires: Bool = true, client clientRequires: Bool = true,
      isSealed: (host: Bool, client: Bool) = (true, true), key: ConnectionKey
    ) {
      host = Host(makePeer(1), seats: 1, requiresSealedStreams: hostRequires)
      client = Host(makePeer(2), seats: 0, requiresSealedStreams: clientRequires)
      (hostID, clientID) = (host.makeConnectionID(), client.makeConnectionID())
      _ = host.accept(hostID, isSealed: isSealed.host, at: now)
      isDialed = client.handleStreamConnected(
        clientID, key: key, isSealed: isSealed.client, at: now)
      exchange()
    }

    private mutating func exchange() {
      for _ in 0..<6 {
        while let event = host.pollEvent() {
          hostEvents.append(event)
          if case .requested(let id, _, _) = event { host.admit(id, at: now) }
        }
        while let event = client.pollEvent() { clientEvents.append(event) }
        while let bytes = client.pollTransmit(on: clientID, queued: 0, at: now) {
          host.receive(bytes.span, on: hostID, at: now)
        }
        while let bytes = host.pollTransmit(on: hostID, queued: 0, at: now) {
          client.receive(bytes.span, on: clientID, at: now)
        }
      }
    }
  }

  @Test func `a stream that is encrypted below carries a connection without a handshake`() throws {
    let pair = Pair(key: key)
    #expect(pair.client.isOpen(pair.clientID) && pair.host.isOpen(pair.hostID))
    let protection = try #require(pair.client.protection(of: pair.clientID))
    #expect(protection.isBelow && protection.policy == .none && protection.encryption == nil)
    #expect("\(protection)" == "encrypted below")
  }

  @Test func `a host that needs it refuses a stream that is not encrypted`() {
    let pair = Pair(client: false, isSealed: (false, false), key: key)
    #expect(pair.clientEvents.endings == [.securityMismatch])
    #expect(pair.hostEvents.endings == [.securityMismatch])
  }

  @Test func `a client that needs it sends nothing on a stream that is not encrypted`() {
    let pair = Pair(host: false, isSealed: (false, false), key: key)
    #expect(!pair.isDialed && pair.clientEvents.endings == [.securityMismatch])
    #expect(pair.hostEvents.isEmpty)
  }

  @Test func `without that need, an encrypted stream is as good as any`() {
    let pair = Pair(host: false, client: false, key: key)
    #expect(pair.client.isOpen(pair.clientID))
    #expect(pair.client.protection(of: pair.clientID)?.description == "none")
    // The host knows better.
    #expect(pair.host.protection(of: pair.hostID)?.isBelow == true)
  }

  @Test func `there are no datagrams where links must be encrypted below`() throws {
    let now = Instant(nanoseconds: 1_000_000_000)
    var client = Host(makePeer(2), seats: 0, requiresSealedStreams: true)
    let id = client.makeConnectionID()
    client.connect(id, to: [DatagramPair.hostRoute], key: key, at: now)
    let ready = client.pollReady()
    var datagram: [UInt8] = []
    let route = ready.flatMap { client.pollDatagram(on: $0, into: &datagram, at: now) }
    #expect(route == nil && datagram.isEmpty)
    // A host says so to those who try.
    var host = Host(makePeer(1), seats: 1, requiresSealedStreams: true)
    let source = DatagramPair.clientRoute
    let hello = Hello(
      key: key, epoch: 1, resumes: false,
      cookie: Cookie(for: source.endpoint, secret: host.secret, at: now))
    host.receiveDatagram(hello.encoded.span, from: source, at: now)
    let reply = host.pollStatelessReply()
    #expect(try #require(reply).bytes.last == Goodbye.Code.securityMismatch.rawValue)
    #expect(host.connectionIDs.isEmpty)
  }
}
