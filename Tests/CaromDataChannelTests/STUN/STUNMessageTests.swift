import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct STUNMessageTests {
  private static let transaction = STUN.Transaction(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

  @Test func `the request of RFC 5769 is read, and is authentic`() throws {
    let message = try STUNMessage(STUNVectors.request.span)
    #expect(message.kind == .bindingRequest)
    #expect(message.transaction == Self.transaction)
    #expect(Array(copying: message.username) == Array("evtj:h6vY".utf8))
    #expect(message.priority == 0x6E00_01FF)
    #expect(!message.usesCandidate)
    #expect(message.unknownCount == 0)
    #expect(message.isAuthentic(key: STUNVectors.password.span))
    #expect(!message.isAuthentic(key: Array("another".utf8).span))
  }

  @Test func `the fragments are those before and after the colon`() throws {
    let message = try STUNMessage(STUNVectors.request.span)
    let receiver = try #require(Self.text(message.receiverFragment))
    let sender = try #require(Self.text(message.senderFragment))
    #expect((receiver, sender) == ("evtj", "h6vY"))
    let response = try STUNMessage(STUNVectors.response4.span)
    #expect(Self.text(response.receiverFragment) == nil)
  }

  private static func text(_ bytes: Span<UInt8>?) -> String? {
    guard let bytes else { return nil }
    return String(validating: Array(copying: bytes), as: UTF8.self)
  }

  @Test(arguments: [
    (STUNVectors.response4, IPAddress.v4(0xC000_0201)),
    (
      STUNVectors.response6,
      IPAddress.v6(high: 0x2001_0DB8_1234_5678, low: 0x0011_2233_4455_6677, scope: 0)
    ),
  ])
  func `the responses of RFC 5769 are read, and are authentic`(
    bytes: [UInt8], address: IPAddress
  ) throws {
    let message = try STUNMessage(bytes.span)
    #expect(message.kind == .bindingSuccess)
    #expect(message.mappedAddress == Endpoint(address, port: 32_853))
    #expect(message.isAuthentic(key: STUNVectors.password.span))
  }

  @Test func `a changed byte anywhere is noticed`() {
    for index in STUNVectors.request.indices {
      var bytes = STUNVectors.request
      bytes[index] ^= 0x40
      let message = try? STUNMessage(bytes.span)
      if let message { #expect(!message.isAuthentic(key: STUNVectors.password.span)) }
    }
  }

  @Test func `a message without a fingerprint is read`() throws {
    var bytes = Array(STUNVectors.request.dropLast(8))
    bytes[3] -= 8
    let message = try STUNMessage(bytes.span)
    #expect(message.isAuthentic(key: STUNVectors.password.span))
  }

  @Test func `what follows the integrity is ignored`() throws {
    var bytes = Array(STUNVectors.request.dropLast(8)) + [0x00, 0x25, 0x00, 0x00]
    bytes[3] -= 4
    let message = try STUNMessage(bytes.span)
    #expect(message.isAuthentic(key: STUNVectors.password.span))
    #expect(!message.usesCandidate)
  }

  @Test func `truncated messages are refused`() {
    for count in 0..<STUNVectors.request.count {
      var bytes = Array(STUNVectors.request.prefix(count))
      #expect(throws: DecodeError.self) { _ = try STUNMessage(bytes.span) }
      guard count >= 20 else { continue }
      bytes[3] = UInt8(count - 20)
      let message = try? STUNMessage(bytes.span)
      if let message { #expect(count < 100 ? !Self.isAuthentic(message) : true) }
    }
  }

  private static func isAuthentic(_ message: borrowing STUNMessage) -> Bool {
    message.isAuthentic(key: STUNVectors.password.span)
  }

  @Test func `only a first byte of 0 or 1 and the magic cookie make a datagram STUN`() {
    #expect(STUN.isMessage(STUNVectors.request.span))
    #expect(!STUN.isMessage(STUNVectors.request.span.extracting(0..<19)))
    for (index, value) in [(0, 2), (0, 22), (4, 0x20), (7, 0)] as [(Int, UInt8)] {
      var bytes = STUNVectors.request
      bytes[index] = value
      #expect(!STUN.isMessage(bytes.span))
    }
  }

  @Test func `a written request is read, and is authentic`() throws {
    var writer = STUNWriter()
    let key = STUNVectors.password
    writer.writeBindingRequest(
      Self.transaction, username: Array("host:page5".utf8).span, priority: 7, tieBreaker: 9,
      isNominating: true, key: key.span)
    let message = try STUNMessage(writer.message)
    #expect(message.kind == .bindingRequest && message.usesCandidate && message.priority == 7)
    #expect(Array(copying: message.username) == Array("host:page5".utf8))
    #expect(message.transaction == Self.transaction)
    #expect(message.isAuthentic(key: key.span))
  }

  @Test(arguments: [
    IPAddress.v4(0x7F00_0001), .loopback6, .v6(high: 0xFE80 << 48, low: 5, scope: 2),
  ])
  func `a written response has the address without its scope`(address: IPAddress) throws {
    var writer = STUNWriter()
    let key = STUNVectors.password
    writer.writeBindingSuccess(
      to: Self.transaction, mapped: Endpoint(address, port: 40_000), key: key.span)
    let message = try STUNMessage(writer.message)
    #expect(message.kind == .bindingSuccess && message.isAuthentic(key: key.span))
    #expect(message.mappedAddress?.port == 40_000)
    #expect(message.mappedAddress?.address.bytes == address.bytes)
  }
}
