import CaromCore
import CaromNearby
import Dispatch
import Foundation

// Discovery by the application: connection data, and attempts to connect with it.
extension SessionCore {
  /// The time that an attempt to connect with connection data takes at most.
  private static let connectLimit = Duration.seconds(30)

  func makeConnectionData(
    for peer: MCPeerID, _ completion: @escaping (Data?, (any Error)?) -> Void
  ) {
    let completion = Transferred(completion)
    guard let engine = handle?.engine else {
      return DispatchQueue.global().async { completion.value(nil, MCError.notOwn) }
    }
    engine.post { engine in
      engine.makeConnectionData(of: self, for: peer.id) { data, error in
        engine.queue.async { completion.value(data.map { Data($0) }, error) }
      }
    }
  }

  func connect(to peer: MCPeerID, with bytes: [UInt8]) {
    guard let engine = handle?.engine, let data = try? ConnectionData(decoding: bytes.span),
      data.address.id == peer.id
    else { return reportNotConnected(peer) }
    expect(peer.id)
    engine.post { engine in
      engine.invite(
        peer, to: self, .connectionData(token: data.token), at: data.address.endpoints,
        within: Self.connectLimit)
    }
  }
}

extension PeerEngine {
  func makeConnectionData(
    of session: SessionCore, for peer: PeerID,
    _ completion: @escaping @Sendable ([UInt8]?, MCError?) -> Void
  ) {
    whenStarted { engine in
      guard let nearby = engine.running?.nearby else {
        return completion(nil, engine.failure ?? MCError(.unavailable))
      }
      session.expect(peer)
      engine.openSessions[session.token] = session
      let endpoints = nearby.localEndpoints(limit: PeerAddress.endpointLimit)
      let address = PeerAddress(
        id: engine.local.id, name: engine.local.displayName, endpoints: endpoints)
      completion(ConnectionData(address: address, token: session.token).encoded, nil)
    }
  }
}
