import Foundation
import MultipeerConnectivity
import Testing

/// Sessions of peers in one process, which find each other by multicast DNS over the loopback
/// interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct SessionTests {
  @Test func `an accepted invitation connects both sides, and its context arrives`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let advertiser = TestAdvertiser(
      host.peerID, type: type, info: ["name": "table 1", "seats": "2"], session: host.session)
    let browser = TestBrowser(client.peerID, type: type)
    let (found, info) = try #require(
      await browser.log.next { event in
        if case .found(let peer, let info) = event { (peer, info) } else { nil }
      })
    #expect(found == host.peerID)
    #expect(found.displayName == "Maya")
    #expect(info == ["name": "table 1", "seats": "2"])
    browser.browser.invitePeer(
      found, to: client.session, withContext: Data([1, 2, 3]), timeout: 20)
    let (inviter, context) = try #require(
      await advertiser.log.next { event in
        if case .invitation(let peer, let context) = event { (peer, context) } else { nil }
      })
    #expect(inviter == client.peerID)
    #expect(inviter.displayName == "Leo")
    #expect(context == Data([1, 2, 3]))
    #expect(await host.nextState(of: client.peerID) == .connecting)
    #expect(await host.nextState(of: client.peerID) == .connected)
    #expect(await client.nextState(of: host.peerID) == .connecting)
    #expect(await client.nextState(of: host.peerID) == .connected)
    #expect(host.session.connectedPeers == [client.peerID])
    #expect(client.session.connectedPeers == [host.peerID])
  }

  @Test func `reliable data arrives in order, also when it is longer than a message`() async throws
  {
    let pair = try await ConnectedPair.make()
    let long = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let peers = pair.client.session.connectedPeers
    try pair.client.session.send(Data([1]), toPeers: peers, with: .reliable)
    try pair.client.session.send(long, toPeers: peers, with: .reliable)
    try pair.client.session.send(Data(), toPeers: peers, with: .reliable)
    for number in 0..<500 {
      try pair.client.session.send(Data("\(number)".utf8), toPeers: peers, with: .reliable)
    }
    #expect(await pair.host.nextData() == Data([1]))
    #expect(await pair.host.nextData() == long)
    #expect(await pair.host.nextData() == Data())
    for number in 0..<500 { #expect(await pair.host.nextData() == Data("\(number)".utf8)) }
  }

  @Test func `unreliable data arrives over a network that loses nothing`() async throws {
    let pair = try await ConnectedPair.make()
    for number in 0..<20 {
      try pair.host.session.send(
        Data([UInt8(number)]), toPeers: [pair.client.peerID], with: .unreliable)
    }
    for number in 0..<20 { #expect(await pair.client.nextData() == Data([UInt8(number)])) }
  }

  @Test func `data to nobody, to strangers, and too long is an error`() async throws {
    let pair = try await ConnectedPair.make()
    let session = pair.host.session
    #expect(throws: MCError(.invalidParameter)) {
      try session.send(Data(), toPeers: [], with: .reliable)
    }
    let stranger = makePeerID("Nobody")
    #expect(throws: MCError(.notConnected)) {
      try session.send(Data([7]), toPeers: [stranger, pair.client.peerID], with: .reliable)
    }
    // The peer that is connected gets the data all the same.
    #expect(await pair.client.nextData() == Data([7]))
    #expect(throws: MCError(.invalidParameter)) {
      try session.send(Data(count: 65_537), toPeers: [pair.client.peerID], with: .unreliable)
    }
  }

  @Test func `a declined invitation ends as not connected, and can be repeated`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let browser = TestBrowser(client.peerID, type: type)
    let advertiser = TestAdvertiser(host.peerID, type: type, session: nil)
    let found = try #require(await browser.nextFound())
    for _ in 0..<2 {
      browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
      #expect(await client.nextState(of: found) == .notConnected)
    }
    #expect(advertiser.log.events.count == 2)
    #expect(host.log.events.isEmpty)
  }

  @Test func `an invitation with a context over the limit ends as not connected, unsent`()
    async throws
  {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let browser = TestBrowser(client.peerID, type: type)
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    let found = try #require(await browser.nextFound())
    let limit = MCNearbyServiceBrowser.maximumContextLength
    #expect(limit == 4064)
    browser.browser.invitePeer(
      found, to: client.session, withContext: Data(count: limit + 1), timeout: 20)
    #expect(await client.nextState(of: found) == .notConnected)
    browser.browser.invitePeer(
      found, to: client.session, withContext: Data(count: limit), timeout: 20)
    await client.wait(for: .connected, of: found)
    let contexts = advertiser.log.events.compactMap { event in
      if case .invitation(_, let context) = event { context } else { nil }
    }
    #expect(contexts == [Data(count: limit)])
  }

  @Test func `an invitation that nobody answers times out`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let browser = TestBrowser(client.peerID, type: type)
    let advertiser = TestAdvertiser(
      host.peerID, type: type, session: host.session, answers: false)
    let found = try #require(await browser.nextFound())
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 0.5)
    #expect(await client.nextState(of: found) == .notConnected)
    #expect(advertiser.log.events.count == 1)
  }

  @Test func `what was sent before a disconnect arrives, and the peers connect again`() async throws
  {
    let pair = try await ConnectedPair.make()
    let data = Data(repeating: 9, count: 2_000_000)
    try pair.client.session.send(data, toPeers: [pair.host.peerID], with: .reliable)
    pair.client.session.disconnect()
    #expect(await pair.host.nextData() == data)
    await pair.host.wait(for: .notConnected, of: pair.client.peerID)
    await pair.client.wait(for: .notConnected, of: pair.host.peerID)
    #expect(pair.client.session.connectedPeers.isEmpty)
    pair.browser.browser.invitePeer(
      pair.host.peerID, to: pair.client.session, withContext: nil, timeout: 20)
    await pair.host.wait(for: .connected, of: pair.client.peerID)
    await pair.client.wait(for: .connected, of: pair.host.peerID)
  }

  @Test func `the members of a session connect with each other`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let clients = ["Leo", "Ann", "Tom"].map { TestSession(makePeerID($0)) }
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    var browsers: [TestBrowser] = []
    for client in clients {
      let browser = TestBrowser(client.peerID, type: type)
      let found = try #require(await browser.nextFound())
      browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
      browsers.append(browser)
    }
    // Only the host is visible, so the clients know each other from it.
    for client in clients {
      var missing = Set(([host] + clients).map(\.peerID)).subtracting([client.peerID])
      while !missing.isEmpty {
        let peer = await client.log.next { event in
          if case .state(let peer, .connected) = event { peer } else { nil }
        }
        missing.remove(try #require(peer))
      }
      #expect(client.session.connectedPeers.count == 3)
    }
    try clients[0].session.send(
      Data([5]), toPeers: clients[0].session.connectedPeers, with: .reliable)
    for other in [host, clients[1], clients[2]] { #expect(await other.nextData() == Data([5])) }
    #expect(advertiser.log.events.count == 3)
    #expect(browsers.count == 3)
  }

  @Test(arguments: [
    (MCEncryptionPreference.required, MCEncryptionPreference.none, false),
    (.none, .required, false), (.optional, .none, true), (.none, .none, true),
    (.optional, .required, true),
  ])
  func `the encryption preferences decide who meets`(
    host: MCEncryptionPreference, client: MCEncryptionPreference, meet: Bool
  ) async throws {
    let type = makeServiceType()
    let hostSession = TestSession(makePeerID("Maya"), host)
    let clientSession = TestSession(makePeerID("Leo"), client)
    let advertiser = TestAdvertiser(hostSession.peerID, type: type, session: hostSession.session)
    let browser = TestBrowser(clientSession.peerID, type: type)
    let found = try #require(await browser.nextFound())
    browser.browser.invitePeer(found, to: clientSession.session, withContext: nil, timeout: 20)
    for (session, peer) in [(hostSession, clientSession.peerID), (clientSession, found)] {
      #expect(await session.nextState(of: peer) == .connecting)
      #expect(await session.nextState(of: peer) == (meet ? .connected : .notConnected))
    }
    #expect(advertiser.log.events.count == 1)
  }

  @Test func `a refused certificate ends the connection, and an accepted one is the key`()
    async throws
  {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"), acceptsCertificates: false)
    let client = TestSession(makePeerID("Leo"))
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    let browser = TestBrowser(client.peerID, type: type)
    let found = try #require(await browser.nextFound())
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
    let certificate = try #require(
      await client.log.next { event in
        if case .certificate(let data) = event { data } else { nil }
      })
    #expect(certificate.map(\.count) == [32])
    #expect(await client.nextState(of: found) == .notConnected)
    await host.wait(for: .notConnected, of: client.peerID)
    #expect(host.session.connectedPeers.isEmpty)
    #expect(advertiser.log.events.count == 1)
  }

  @Test func `calls that are due before the delegate is set wait for it, in order`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"), hasDelegate: false)
    let client = TestSession(makePeerID("Leo"))
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    let browser = TestBrowser(client.peerID, type: type)
    let found = try #require(await browser.nextFound())
    // The certificate is a question to the delegate, so that nobody connects without one.
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
    #expect(await client.nextState(of: found) == .connecting)
    #expect(host.log.events.isEmpty)
    host.session.delegate = host
    await client.wait(for: .connected, of: found)
    try client.session.send(Data([1]), toPeers: [found], with: .reliable)
    #expect(await host.nextState(of: client.peerID) == .connecting)
    #expect(await host.nextState(of: client.peerID) == .connected)
    #expect(await host.nextData() == Data([1]))
    #expect(advertiser.log.events.count == 1)
  }

  @Test func `a peer that stops advertising is lost, and stays connected`() async throws {
    let pair = try await ConnectedPair.make()
    pair.advertiser.advertiser.stopAdvertisingPeer()
    let lost = await pair.browser.log.next { event in
      if case .lost(let peer) = event { peer } else { nil }
    }
    #expect(lost == pair.host.peerID)
    #expect(pair.client.session.connectedPeers == [pair.host.peerID])
    pair.advertiser.advertiser.startAdvertisingPeer()
    #expect(await pair.browser.nextFound() == pair.host.peerID)
  }

  @Test func `a session that is released disconnects its peers`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let advertiser = TestAdvertiser(host.peerID, type: type, session: host.session)
    let clientID = makePeerID("Leo")
    do {
      let client = TestSession(clientID)
      let browser = TestBrowser(clientID, type: type)
      let found = try #require(await browser.nextFound())
      browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
      await host.wait(for: .connected, of: clientID)
      await client.wait(for: .connected, of: found)
    }
    #expect(await host.nextState(of: clientID) == .notConnected)
    #expect(advertiser.log.events.count == 1)
  }
}
