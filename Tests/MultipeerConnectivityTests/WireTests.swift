import CaromCore
import CaromGroup
import Foundation
import Testing

@testable import MultipeerConnectivity

/// The formats of the page WireFormat, and what is refused.
struct WireTests {
  private let address = PeerAddress(
    id: PeerID(high: 1, low: 2), name: "Leo",
    endpoints: [
      Endpoint(.v4(0x7F00_0001), port: 7777), Endpoint(.loopback6, port: 1),
    ])

  private func check<Value: PacketCodable & Equatable>(_ value: Value) throws {
    let bytes = value.encoded
    #expect(try Value(decoding: bytes.span) == value)
    for count in 0..<bytes.count {
      // Data and contexts have any length; everything else is refused if it is cut.
      let part = try? Value(decoding: bytes.span.extracting(0..<count))
      #expect(part == nil || part != value)
    }
  }

  @Test func `messages of members come back as they were`() throws {
    try check(MemberMessage.hello(MemberHello(preference: .none, endpoints: address.endpoints)))
    try check(MemberMessage.ready)
    try check(MemberMessage.leave)
    try check(MemberMessage.data([1, 2, 3]))
    try check(MemberMessage.part([]))
    try check(MemberMessage.introduce(address))
  }

  @Test func `contexts of invitations come back as they were`() throws {
    try check(InvitationEnvelope.invitation(serviceType: "chat", context: nil))
    try check(InvitationEnvelope.invitation(serviceType: "chat", context: []))
    try check(InvitationEnvelope.invitation(serviceType: "chat", context: [7]))
    try check(InvitationEnvelope.introduction)
    try check(InvitationEnvelope.connectionData(token: SessionToken()))
    try check(ConnectionData(address: address, token: SessionToken()))
  }

  @Test func `the bytes are those of the page WireFormat`() {
    let hello = MemberHello(preference: .required, endpoints: [address.endpoints[0]])
    #expect(
      MemberMessage.hello(hello).encoded == [1, 1, 1, 1, 4, 127, 0, 0, 1, 0x1E, 0x61])
    #expect(MemberMessage.ready.encoded == [2])
    #expect(MemberMessage.leave.encoded == [6])
    #expect(MemberMessage.data([9]).encoded == [3, 9])
    #expect(MemberMessage.part([9]).encoded == [4, 9])
    #expect(
      InvitationEnvelope.invitation(serviceType: "ab", context: [9]).encoded
        == [1, 2, 2, 0x61, 0x62, 9])
    #expect(InvitationEnvelope.introduction.encoded == [1, 3])
  }

  @Test(
    arguments: [
      [], [0], [7], [1, 2, 0, 0], [1, 1, 3, 0], [1, 1, 0, 17],
      [1, 1, 0, 1, 5, 0, 0, 0, 0, 0, 0, 0],
      [2, 0],
    ] as [[UInt8]])
  func `a malformed message of a member is refused`(bytes: [UInt8]) {
    #expect(throws: DecodeError.self) { try MemberMessage(decoding: bytes.span) }
  }

  @Test(
    arguments: [[], [1], [2, 1], [1, 0], [1, 5], [1, 1, 16], [1, 3, 0], [1, 4, 1]] as [[UInt8]])
  func `a malformed context is refused`(bytes: [UInt8]) {
    #expect(throws: DecodeError.self) { try InvitationEnvelope(decoding: bytes.span) }
  }

  @Test(arguments: [
    "photo.jpg", "", "../../etc/passwd", ".hidden", "50%", "a/b\\c", "größe ☃ 🎈", "line\nbreak",
    "%2e", "ends with %",
  ])
  func `the name of a resource comes back, and cannot leave the folder`(name: String) throws {
    let file = try #require(ResourceName.fileName(for: name))
    #expect(ResourceName.name(of: file) == name)
  }

  @Test func `a name that is too long is refused, and a strange one is taken as it is`() {
    #expect(ResourceName.fileName(for: String(repeating: "x", count: 255)) != nil)
    #expect(ResourceName.fileName(for: String(repeating: "x", count: 256)) == nil)
    for text in ["%zz", "a%", "%ff"] {
      #expect(FileName(text).map(ResourceName.name) == text)
    }
  }

  @Test func `discovery info may have the keys that the record reserves`() throws {
    let info = ["id": "7", "Name": "x", "txtvers": "9", "~id": "8", "seats": "", "a b": "c=d"]
    let record = try DiscoveryInfo.record(of: info)
    #expect(record["id"] == nil)
    #expect(DiscoveryInfo.info(in: record) == info)
    #expect(DiscoveryInfo.info(in: [:]) == nil)
    #expect(throws: (any Error).self) { try DiscoveryInfo.record(of: ["a=b": "c"]) }
    #expect(throws: (any Error).self) {
      try DiscoveryInfo.record(of: ["a": String(repeating: "x", count: 255)])
    }
  }
}
