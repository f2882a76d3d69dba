import CaromCore
import Foundation
import Testing

@testable import MultipeerConnectivity

struct PeerIDTests {
  private func archive(_ peer: MCPeerID) throws -> Data {
    try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
  }

  private func unarchive(_ data: Data) throws -> MCPeerID {
    try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data))
  }

  /// A configuration folder for keys, which is removed afterwards.
  private func withKeyFolder<Result>(_ body: () throws -> Result) rethrows -> Result {
    let folder = FileManager.default.temporaryDirectory.appending(path: "carom-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    return try PeerKeyFile.$folder.withValue(folder.path) { try body() }
  }

  @Test func `two ids with the same name are different peers`() {
    let (a, b) = (MCPeerID(displayName: "iPhone"), MCPeerID(displayName: "iPhone"))
    #expect(a != b)
    #expect(a == a.copy() as? MCPeerID)
    #expect(Set([a, b, a]).count == 2)
    #expect(a.displayName == "iPhone")
  }

  @Test func `the hash is a fixed function of the id`() {
    let id = PeerID(high: 0x0123_4567_89AB_CDEF, low: 0x1111_1111_1111_1111)
    #expect(MCPeerID(id, name: "a").hash == 0x1032_5476_98BA_DCFE)
    #expect(MCPeerID(id, name: "b") == MCPeerID(id, name: "a"))
  }

  @Test func `an empty name is the name of the host`() {
    #expect(!MCPeerID(displayName: "").displayName.isEmpty)
  }

  @Test func `an own id comes back from its archive as an own id`() throws {
    try withKeyFolder {
      let peer = MCPeerID(displayName: "Maya 🎈")
      let restored = try unarchive(archive(peer))
      #expect(restored == peer)
      #expect(restored.displayName == "Maya 🎈")
      #expect(restored.identity == peer.identity)
    }
  }

  @Test func `without the key file, an archive names a peer that cannot be an own id`() throws {
    let peer = MCPeerID(displayName: "Maya")
    let data = try withKeyFolder { try archive(peer) }
    let restored = try withKeyFolder { try unarchive(data) }
    #expect(restored == peer)
    #expect(restored.identity == nil)
  }

  @Test func `an id of another peer is archived without a key`() throws {
    try withKeyFolder {
      let peer = MCPeerID(PeerID(high: 1, low: 2), name: "Leo")
      let restored = try unarchive(archive(peer))
      #expect(restored == peer)
      #expect(restored.identity == nil)
    }
  }

  @Test func `objects with an id that is not an own one say that they did not start`() async throws
  {
    let type = makeServiceType()
    let stranger = MCPeerID(PeerID(high: 1, low: 2), name: "Leo")
    let advertiser = TestAdvertiser(stranger, type: type, session: nil)
    let browser = TestBrowser(stranger, type: type)
    let first = await advertiser.log.next { event in
      if case .failed(let error) = event { error } else { nil }
    }
    let second = await browser.log.next { event in
      if case .failed(let error) = event { error } else { nil }
    }
    #expect(first?.code == .unavailable)
    #expect(second?.code == .unavailable)
    let session = MCSession(peer: stranger)
    #expect(throws: MCError(.notConnected)) {
      try session.send(Data(), toPeers: [MCPeerID(displayName: "Maya")], with: .reliable)
    }
    await #expect(throws: MCError(.unavailable)) {
      try await session.nearbyConnectionData(forPeer: MCPeerID(displayName: "Maya"))
    }
  }

  @Test func `a damaged archive is refused`() throws {
    let data = try withKeyFolder { try archive(MCPeerID(displayName: "Maya")) }
    for count in stride(from: 0, to: data.count, by: 7) {
      let peer = try? NSKeyedUnarchiver.unarchivedObject(
        ofClass: MCPeerID.self, from: data.prefix(count))
      #expect(peer == nil)
    }
  }
}

struct ErrorTests {
  private func fail(_ code: MCError.Code) throws { throw MCError(code) }

  @Test func `the codes and the domain are those of Apple's framework`() {
    let codes: [MCError.Code] = [
      .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled,
      .unavailable,
    ]
    #expect(codes.map(\.rawValue) == Array(0...6))
    #expect(MCErrorDomain == "MCErrorDomain")
    let error = NSError(domain: MCError.errorDomain, code: MCError(.timedOut).errorCode)
    #expect((error.domain, error.code) == ("MCErrorDomain", 4))
    #expect(!MCError(.notConnected).localizedDescription.isEmpty)
    #expect(kMCSessionMinimumNumberOfPeers == 2)
    #expect(kMCSessionMaximumNumberOfPeers == 8)
  }

  @Test func `an error is caught by its code`() {
    do {
      try fail(.notConnected)
      Issue.record("nothing was thrown")
    } catch MCError.unavailable {
      Issue.record("another code matches")
    } catch MCError.notConnected {
    } catch { Issue.record("\(error)") }
  }

  @Test func `the raw values of the enumerations are those of Apple's framework`() {
    #expect(MCSessionState.notConnected.rawValue == 0)
    #expect(MCSessionState.connecting.rawValue == 1)
    #expect(MCSessionState.connected.rawValue == 2)
    #expect(MCSessionSendDataMode.reliable.rawValue == 0)
    #expect(MCSessionSendDataMode.unreliable.rawValue == 1)
    #expect(MCEncryptionPreference.optional.rawValue == 0)
    #expect(MCEncryptionPreference.required.rawValue == 1)
    #expect(MCEncryptionPreference.none.rawValue == 2)
    let session = MCSession(peer: MCPeerID(displayName: "Maya"))
    #expect(session.encryptionPreference == .required)
    #expect(session.securityIdentity == nil)
  }
}
