import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct STUNMessageTests {
  private static let transaction = STUN.Transaction(high: 0xB7E7_A701, low: 0xBC34_D686_FA87_DFAE)

  @Test func `the request of RFC 5769 is read, and is authentic`() throws {
    let message = try STUNReading(STUNVectors.request)
    #expect(message.kind == .bindingRequest)
    #expect(message.transaction == Self.transaction)
    #expect(message.username == "evtj:h6vY")
    #expect(message.priority == 0x6E00_01FF)
    #expect(!message.usesCandidate)
    #expect(message.unknownCount == 0)
    #expect(message.isAuthentic)
    #expect(!message.isAuthenticWithAnotherKey)
  }

  @Test func `the fragments are those before and after the colon`() throws {
    let message = try STUNReading(STUNVectors.request)
    #expect(message.receiver == "evtj" && message.sender == "h6vY")
    let response = try STUNReading(STUNVectors.response4)
    #expect(response.receiver == nil && response.sender == nil)
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
    let message = try STUNReading(bytes)
    #expect(message.kind == .bindingSuccess)
    #expect(message.mappedAddress == Endpoint(address, port: 32_853))
    #expect(message.isAuthentic)
  }

  @Test func `a changed byte anywhere is noticed`() {
    // With another type, the fingerprint would be an attribute that is ignored.
    for index in STUNVectors.request.indices where index != 100 && index != 101 {
      var bytes = STUNVectors.request
      bytes[index] ^= 0x40
      let message = try? STUNReading(bytes)
      if let message { #expect(!message.isAuthentic) }
    }
  }

  @Test func `a message without a fingerprint is read`() throws {
    var bytes = Array(STUNVectors.request.dropLast(8))
    bytes[3] -= 8
    let message = try STUNReading(bytes)
    #expect(message.isAuthentic)
  }

  @Test func `what follows the integrity is ignored`() throws {
    var bytes = Array(STUNVectors.request.dropLast(8)) + [0x00, 0x25, 0x00, 0x00]
    bytes[3] -= 4
    let message = try STUNReading(bytes)
    #expect(message.isAuthentic)
    #expect(!message.usesCandidate)
  }

  @Test func `truncated messages are refused`() {
    for count in 0..<STUNVectors.request.count {
      var bytes = Array(STUNVectors.request.prefix(count))
      #expect(throws: DecodeError.self) { try STUNReading(bytes) }
      guard count >= 20 else { continue }
      bytes[3] = UInt8(count - 20)
      // Whole attributes are a message, but not an authentic one while their code is not whole.
      let isAuthentic = (try? STUNReading(bytes))?.isAuthentic ?? false
      #expect(isAuthentic == (count == 100))
    }
  }

  @Test func `only a first byte of 0 or 1 and the magic cookie make a datagram STUN`() {
    #expect(Self.isMessage(STUNVectors.request) == true)
    #expect(Self.isMessage(Array(STUNVectors.request.prefix(19))) == false)
    for (index, value) in [(0, 2), (0, 22), (4, 0x20), (7, 0)] as [(Int, UInt8)] {
      var bytes = STUNVectors.request
      bytes[index] = value
      #expect(Self.isMessage(bytes) == false)
    }
  }

  private static func isMessage(_ bytes: [UInt8]) -> Bool { STUN.isMessage(bytes.span) }

  @Test func `a written request is read, and is authentic`() throws {
    var writer = STUNWriter()
    let key = STUNVectors.password
    writer.writeBindingRequest(
      Self.transaction, username: Array("host:page5".utf8).span, priority: 7, tieBreaker: 9,
      isNominating: true, key: key.span)
    let message = try STUNReading(writer.message)
    #expect(message.kind == .bindingRequest && message.usesCandidate && message.priority == 7)
    #expect(message.username == "host:page5")
    #expect(message.transaction == Self.transaction)
    #expect(message.isAuthentic)
  }

  @Test(arguments: [
    IPAddress.v4(0x7F00_0001), .loopback6, .v6(high: 0xFE80 << 48, low: 5, scope: 2),
  ])
  func `a written response has the address without its scope`(address: IPAddress) throws {
    var writer = STUNWriter()
    let key = STUNVectors.password
    writer.writeBindingSuccess(
      to: Self.transaction, mapped: Endpoint(address, port: 40_000), key: key.span)
    let message = try STUNReading(writer.message)
    #expect(message.kind == .bindingSuccess && message.isAuthentic)
    #expect(message.mappedAddress?.port == 40_000)
    #expect(message.mappedAddress?.address.bytes == address.bytes)
  }
}
