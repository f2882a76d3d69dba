import CaromCore
import Testing

@testable import CaromDataChannel

@Suite struct CheckResponderTests {
  private static let source = Endpoint(.v4(0xC000_0207), port: 50_000)
  private static let key = STUNVectors.password

  private static func password(_ fragment: Span<UInt8>) -> [UInt8]? {
    Array(copying: fragment) == Array("evtj".utf8) ? key : nil
  }

  private static func makeRequest(isNominating: Bool, fragment: String = "evtj") -> STUNWriter {
    var writer = STUNWriter()
    writer.writeBindingRequest(
      STUN.Transaction(high: 1, low: 2), username: Array("\(fragment):page".utf8).span,
      priority: 1, tieBreaker: 1, isNominating: isNominating, key: key.span)
    return writer
  }

  @Test(arguments: [false, true])
  func `a check is answered with the address that it came from`(isNominating: Bool) throws {
    var responder = CheckResponder()
    let request = Self.makeRequest(isNominating: isNominating)
    let answer = responder.answer(request.message, from: Self.source, password: Self.password)
    #expect(answer == .accepted(isNominated: isNominating))
    let response = try STUNReading(responder.response)
    #expect(response.kind == .bindingSuccess && response.isAuthentic)
    #expect(response.transaction == STUN.Transaction(high: 1, low: 2))
    #expect(response.mappedAddress == Self.source)
  }

  @Test func `a wrong password, an unknown fragment and a response have no answer`() {
    var responder = CheckResponder()
    let request = Array(copying: Self.makeRequest(isNominating: true).message)
    let other = Array(copying: Self.makeRequest(isNominating: true, fragment: "other").message)
    let datagrams = [other, STUNVectors.response4, [UInt8](repeating: 0, count: 30)]
    for datagram in datagrams {
      let answer = responder.answer(datagram.span, from: Self.source, password: Self.password)
      #expect(answer == .dropped)
    }
    let answer = responder.answer(request.span, from: Self.source) { _ in Array("wrong".utf8) }
    #expect(answer == .dropped)
  }

  /// An attribute that has to be comprehended, in place of PRIORITY.
  private static func makeUnknown(isAuthentic: Bool) -> [UInt8] {
    var bytes = Array(STUNVectors.request.dropLast(32))
    bytes[41] = 0x7E
    bytes[3] = UInt8(bytes.count + 24 - 20)
    let password = isAuthentic ? key : Array("wrong".utf8)
    var code = HMACSHA1(key: password.span)
    code.absorb(bytes.span)
    let hash = code.finish()
    return bytes + [0x00, 0x08, 0x00, 0x14] + hash.indices.map { hash[$0] }
  }

  @Test func `an unknown attribute is refused if the request is authentic`() throws {
    var responder = CheckResponder()
    let answers = [false, true].map { isAuthentic in
      responder.answer(
        Self.makeUnknown(isAuthentic: isAuthentic).span, from: Self.source,
        password: Self.password)
    }
    #expect(answers == [.dropped, .refused])
    let response = try STUNReading(responder.response)
    #expect(response.kind == .bindingError && response.errorCode == 420)
    #expect(response.isAuthentic)
    let bytes = Array(copying: responder.response)
    let unknown: [UInt8] = [0x00, 0x0A, 0x00, 0x02, 0x00, 0x7E]
    #expect(bytes.indices.contains { bytes[$0...].starts(with: unknown) })
  }
}
