import Foundation
import GameKit
import MultipeerConnectivity
import Testing

/// Sessions of two devices in one process, over the loopback interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct GKSessionTests {
  private func makePair() async throws -> (server: TestGKSession, client: TestGKSession) {
    MultipeerNetwork.interfaces = ["lo"]
    let id = "a game \(UInt64.random(in: .min ... .max))"
    let server = TestGKSession(GKSession(sessionID: id, displayName: "Maya", sessionMode: .server))
    let client = TestGKSession(GKSession(sessionID: id, displayName: "Leo", sessionMode: .client))
    server.session.isAvailable = true
    client.session.isAvailable = true
    await client.wait(for: .state(server.session.peerID, .stateAvailable))
    return (server, client)
  }

  private func connect(_ server: TestGKSession, _ client: TestGKSession) async throws {
    client.session.connect(toPeer: server.session.peerID, withTimeout: 20)
    await server.wait(for: .request(client.session.peerID))
    try server.session.acceptConnection(fromPeer: client.session.peerID)
    await server.wait(for: .state(client.session.peerID, .stateConnected))
    await client.wait(for: .state(server.session.peerID, .stateConnected))
  }

  @Test func `a client finds a server, and no longer when it is not available`() async throws {
    let (server, client) = try await makePair()
    let peer = server.session.peerID
    #expect(client.session.displayName(forPeer: peer) == "Maya")
    #expect(client.session.peers(with: .stateAvailable) == [peer])
    #expect(server.session.isAvailable)
    server.session.isAvailable = false
    await client.wait(for: .state(peer, .stateUnavailable))
    #expect(client.session.peers(with: .stateUnavailable) == [peer])
    #expect(server.session.peers(with: .stateAvailable).isEmpty)
    #expect(server.session.disconnectTimeout == 20)
  }

  @Test func `data goes both ways, and what cannot be sent is an error`() async throws {
    let (server, client) = try await makePair()
    try await connect(server, client)
    let (a, b) = (server.session, client.session)
    try a.sendData(toAllPeers: Data([1]), with: .reliable)
    try b.send(Data(), toPeers: [a.peerID], with: .unreliable)
    await client.wait(for: .data(Data([1]), a.peerID))
    await server.wait(for: .data(Data(), b.peerID))
    #expect(throws: GKSessionError(.invalidParameter)) {
      try a.send(Data(), toPeers: [], with: .reliable)
    }
    #expect(throws: GKSessionError(.peerNotFound)) {
      try a.send(Data(), toPeers: ["nobody"], with: .reliable)
    }
    #expect(throws: GKSessionError(.dataTooBig)) {
      try a.send(Data(count: 65_536), toPeers: [b.peerID], with: .unreliable)
    }
    b.disconnectFromAllPeers()
    await server.wait(for: .state(b.peerID, .stateDisconnected))
    #expect(throws: GKSessionError(.notConnected)) {
      try a.send(Data(), toPeers: [b.peerID], with: .reliable)
    }
  }

  @Test func `a request that is denied fails as declined, and one to a stranger at once`()
    async throws
  {
    let (server, client) = try await makePair()
    client.session.connect(toPeer: server.session.peerID, withTimeout: 20)
    client.session.connect(toPeer: server.session.peerID, withTimeout: 20)
    await client.wait(for: .failed(server.session.peerID, .inProgress))
    await server.wait(for: .request(client.session.peerID))
    server.session.denyConnection(fromPeer: client.session.peerID)
    await client.wait(for: .failed(server.session.peerID, .declined))
    client.session.connect(toPeer: "nobody", withTimeout: 1)
    await client.wait(for: .failed("nobody", .peerNotFound))
    #expect(throws: GKSessionError(.peerNotFound)) {
      try server.session.acceptConnection(fromPeer: client.session.peerID)
    }
  }

  @Test func `an attempt that nobody answers fails as timed out`() async throws {
    let (server, client) = try await makePair()
    client.session.connect(toPeer: server.session.peerID, withTimeout: 0.5)
    await client.wait(for: .failed(server.session.peerID, .timedOut))
    await client.wait(for: .state(server.session.peerID, .stateDisconnected))
    await client.wait(for: .state(server.session.peerID, .stateAvailable))
  }

  @Test func `an attempt that is cancelled fails as cancelled`() async throws {
    let (server, client) = try await makePair()
    client.session.connect(toPeer: server.session.peerID, withTimeout: 20)
    await server.wait(for: .request(client.session.peerID))
    client.session.cancelConnect(toPeer: server.session.peerID)
    await client.wait(for: .failed(server.session.peerID, .cancelled))
  }

  @Test func `a peer is told to leave`() async throws {
    let (server, client) = try await makePair()
    try await connect(server, client)
    server.session.disconnectPeer(fromAllPeers: client.session.peerID)
    await server.wait(for: .state(client.session.peerID, .stateDisconnected))
    await client.wait(for: .state(server.session.peerID, .stateDisconnected))
  }

  @Test func `the codes and raw values are those of Apple's framework`() {
    let codes = GKSessionError.Code.allCases.map(\.rawValue)
    #expect(codes == Array(30500...30510) + Array(30201...30205))
    #expect(GKPeerConnectionState.stateAvailable.rawValue == 0)
    #expect(GKPeerConnectionState.stateUnavailable.rawValue == 1)
    #expect(GKPeerConnectionState.stateConnected.rawValue == 2)
    #expect(GKPeerConnectionState.stateDisconnected.rawValue == 3)
    #expect(GKPeerConnectionState.stateConnecting.rawValue == 4)
    #expect(GKSessionMode.peer.rawValue == 2)
    #expect(GKSendDataMode.unreliable.rawValue == 1)
    #expect(!GKSessionError(.timedOut).localizedDescription.isEmpty)
  }
}

/// A session whose delegate calls are recorded.
final class TestGKSession: NSObject, GKSessionDelegate, GKSessionDataHandler, Sendable {
  enum Event: Hashable, Sendable {
    case state(String, GKPeerConnectionState)
    case request(String)
    case failed(String, GKSessionError.Code?)
    case data(Data, String)
    case broken
  }

  let session: GKSession
  private let stream: AsyncStream<Event>
  private let input: AsyncStream<Event>.Continuation

  init(_ session: GKSession) {
    self.session = session
    (stream, input) = AsyncStream.makeStream(of: Event.self)
    super.init()
    session.delegate = self
    session.setDataReceiveHandler(self, withContext: nil)
  }

  /// Waits for an event, without those before it.
  func wait(for wanted: Event) async {
    for await event in stream where event == wanted { return }
  }

  func session(
    _ session: GKSession, peer peerID: String, didChange state: GKPeerConnectionState
  ) { input.yield(.state(peerID, state)) }

  func session(_ session: GKSession, didReceiveConnectionRequestFromPeer peerID: String) {
    input.yield(.request(peerID))
  }

  func session(
    _ session: GKSession, connectionWithPeerFailed peerID: String, withError error: any Error
  ) { input.yield(.failed(peerID, (error as? GKSessionError)?.code)) }

  func session(_ session: GKSession, didFailWithError error: any Error) { input.yield(.broken) }

  func receive(_ data: Data, fromPeer peer: String, in session: GKSession, context: Any?) {
    input.yield(.data(data, peer))
  }
}
