import Foundation
import MultipeerConnectivity
import TestEvents
import Testing

/// The other ways to connect: connection data, the assistant, and the list to pick from.
@Suite(.timeLimit(.minutes(1)), .serialized) struct ConnectingTests {
  @Test func `connection data connects two peers that do not find each other`() async throws {
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let data = try await host.session.nearbyConnectionData(forPeer: client.peerID)
    client.session.connectPeer(host.peerID, withNearbyConnectionData: data)
    await host.wait(for: .connected, of: client.peerID)
    await client.wait(for: .connected, of: host.peerID)
  }

  @Test func `both sides may connect at the same time`() async throws {
    let (a, b) = (TestSession(makePeerID("Maya")), TestSession(makePeerID("Leo")))
    let dataOfA = try await a.session.nearbyConnectionData(forPeer: b.peerID)
    let dataOfB = try await b.session.nearbyConnectionData(forPeer: a.peerID)
    a.session.connectPeer(b.peerID, withNearbyConnectionData: dataOfB)
    b.session.connectPeer(a.peerID, withNearbyConnectionData: dataOfA)
    await a.wait(for: .connected, of: b.peerID)
    await b.wait(for: .connected, of: a.peerID)
  }

  @Test func `connection data is valid for one peer, and only the right data is accepted`()
    async throws
  {
    let host = TestSession(makePeerID("Maya"))
    let (client, thief) = (TestSession(makePeerID("Leo")), TestSession(makePeerID("Tom")))
    let data = try await host.session.nearbyConnectionData(forPeer: client.peerID)
    thief.session.connectPeer(host.peerID, withNearbyConnectionData: data)
    #expect(await thief.nextState(of: host.peerID) == .notConnected)
    client.session.connectPeer(thief.peerID, withNearbyConnectionData: data)
    #expect(await client.nextState(of: thief.peerID) == .notConnected)
    client.session.connectPeer(host.peerID, withNearbyConnectionData: data.prefix(20))
    #expect(await client.nextState(of: host.peerID) == .notConnected)
    #expect(host.log.events.isEmpty)
  }

  @Test func `an attempt to connect can be cancelled`() async throws {
    let host = TestSession(makePeerID("Maya"), hasDelegate: false)
    let client = TestSession(makePeerID("Leo"))
    let data = try await host.session.nearbyConnectionData(forPeer: client.peerID)
    // The host has no delegate that accepts the client's certificate.
    client.session.connectPeer(host.peerID, withNearbyConnectionData: data)
    #expect(await client.nextState(of: host.peerID) == .connecting)
    client.session.cancelConnectPeer(host.peerID)
    #expect(await client.nextState(of: host.peerID) == .notConnected)
  }

  @Test func `the assistant accepts invitations, or asks`() async throws {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let client = TestSession(makePeerID("Leo"))
    let assistant = MCAdvertiserAssistant(
      serviceType: type, discoveryInfo: ["a": "b"], session: host.session)
    let events = AssistantLog()
    assistant.delegate = events
    assistant.presentInvitation = { _, _, answer in answer(false) }
    assistant.start()
    let browser = TestBrowser(client.peerID, type: type)
    let found = try #require(await browser.nextFound())
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
    #expect(await client.nextState(of: found) == .notConnected)
    #expect(events.log.events == ["will", "did"])
    assistant.presentInvitation = nil
    browser.browser.invitePeer(found, to: client.session, withContext: nil, timeout: 20)
    await client.wait(for: .connected, of: found)
    assistant.stop()
    #expect(assistant.serviceType == type)
    #expect(assistant.discoveryInfo == ["a": "b"])
  }

  @Test func `the list shows the peers that the delegate wants, and needs enough of them`()
    async throws
  {
    let type = makeServiceType()
    let host = TestSession(makePeerID("Maya"))
    let hidden = makePeerID("Hidden")
    let client = TestSession(makePeerID("Leo"))
    let advertisers = [
      TestAdvertiser(hidden, type: type, session: nil),
      TestAdvertiser(host.peerID, type: type, session: host.session),
    ]
    let list = MCBrowserViewController(serviceType: type, session: client.session)
    let owner = ListOwner()
    list.delegate = owner
    list.nearbyPeersDidChange = { owner.log.add("change") }
    list.start()
    while list.nearbyPeers.isEmpty { _ = await owner.log.next { $0 == "change" ? true : nil } }
    #expect(list.nearbyPeers == [host.peerID])
    #expect(!list.finish())
    #expect(list.invite(host.peerID))
    await client.wait(for: .connected, of: host.peerID)
    #expect(list.finish())
    list.maximumNumberOfPeers = 2
    #expect(!list.invite(host.peerID))
    list.cancel()
    #expect(owner.log.events.suffix(2) == ["finish", "cancel"])
    #expect(advertisers.count == 2)
  }
}

final class AssistantLog: NSObject, MCAdvertiserAssistantDelegate, Sendable {
  let log = EventLog<String>()

  func advertiserAssistantWillPresentInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
    log.add("will")
  }

  func advertiserAssistantDidDismissInvitation(_ advertiserAssistant: MCAdvertiserAssistant) {
    log.add("did")
  }
}

final class ListOwner: NSObject, MCBrowserViewControllerDelegate, Sendable {
  let log = EventLog<String>()

  func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
    log.add("finish")
  }

  func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) {
    log.add("cancel")
  }

  func browserViewController(
    _ browserViewController: MCBrowserViewController, shouldPresentNearbyPeer peerID: MCPeerID,
    withDiscoveryInfo info: [String: String]?
  ) -> Bool { peerID.displayName != "Hidden" }
}
