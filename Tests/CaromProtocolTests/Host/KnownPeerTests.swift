import CaromCore
import CaromCrypto
import CaromTesting
import Testing

@testable import CaromProtocol

/// Connections between peers that know each other's keys.
@Suite struct KnownPeerTests {
  /// The identities of the two peers of a `DatagramPair`.
  private let host: Identity
  private let client: Identity

  init() throws {
    let pair = DatagramPair(isEncrypted: true)
    host = try #require(pair.host.side.security?.identity)
    client = try #require(pair.client.side.security?.identity)
  }

  private func list(_ names: [String: Identity]) throws -> KnownPeers {
    var peers = KnownPeers()
    for (name, identity) in names { try peers.insert(name, identity.publicKey) }
    return peers
  }

  private func makePair(host: LinkAccess = .anyone, client: LinkAccess = .anyone) -> DatagramPair {
    var pair = DatagramPair(isEncrypted: true, access: host)
    pair.setClient(access: client)
    pair.connect(ConnectionKey(prefix: 1, rest: 2))
    return pair
  }

  @Test func `peers that know each other play`() throws {
    var pair = makePair(
      host: .known(try list(["Maya": client]), name: nil),
      client: .known(try list(["the server": host]), name: "the server"))
    pair.exchange()
    #expect(pair.client.isOpen(pair.id))
  }

  @Test func `a host refuses a peer whose key it does not know`() throws {
    var pair = makePair(host: .known(try list(["Maya": host]), name: nil))
    pair.exchange()
    #expect(pair.clientEvents.endings == [.untrusted("")])
    #expect(pair.hostEvents.endings == [.untrusted("the key \(client.fingerprint) is not known")])
    #expect(!pair.hostEvents.contains { if case .requested = $0 { true } else { false } })
  }

  @Test func `a known name with another key is told with both fingerprints`() throws {
    var pair = makePair(host: .known(try list(["peer 2": host]), name: nil))
    pair.exchange()
    guard case .untrusted(let why)? = pair.hostEvents.endings.first else {
      Issue.record("the peer was not refused")
      return
    }
    #expect(why.contains("\(client.fingerprint)") && why.contains("\(host.fingerprint)"))
  }

  @Test(arguments: ["the server", nil])
  func `a client refuses another host than it knows, before it says who it is`(name: String?) throws
  {
    var pair = makePair(client: .known(try list(["the server": client]), name: name))
    pair.exchange()
    guard case .untrusted(let why)? = pair.clientEvents.endings.first else {
      Issue.record("the host was not refused")
      return
    }
    #expect(why.contains("\(host.fingerprint)"))
    #expect(why.contains("\(client.fingerprint)") == (name != nil))
    #expect(pair.hostEvents.endings == [.untrusted("")])
    #expect(!pair.hostEvents.contains { if case .requested = $0 { true } else { false } })
  }

  @Test func `a name chooses one of the known keys`() throws {
    let peers = try list(["the server": host, "Maya": client])
    for (name, isOpen) in [("the server", true), ("Maya", false), ("nobody", false)] {
      var pair = makePair(client: .known(peers, name: name))
      pair.exchange()
      #expect(pair.client.isOpen(pair.id) == isOpen)
    }
  }
}
