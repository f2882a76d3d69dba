import CaromDNS
import Testing

@Suite struct ServiceTypeTests {
  @Test(arguments: [
    ("_airhockey._tcp", "_airhockey._tcp"), ("_AirHockey._UDP.", "_airhockey._udp"),
    ("_a-1._udp", "_a-1._udp"), ("_123456789abcdef._tcp", "_123456789abcdef._tcp"),
  ])
  func `R77: a service type is parsed and converted to lower case`(text: String, expected: String)
    throws
  {
    #expect(try ServiceType(text).description == expected)
  }

  @Test(
    arguments: [
      ("_x", .notTwoLabels), ("_a._b._tcp", .notTwoLabels), ("", .notTwoLabels),
      ("x._tcp", .missingUnderscore), ("_x._sctp", .unknownTransport), ("_._tcp", .emptyName),
      ("_0123456789abcdef._tcp", .nameTooLong(16)), ("_a b._tcp", .invalidCharacter),
      ("_é._tcp", .invalidCharacter), ("_12-3._tcp", .noLetter), ("_-a._tcp", .edgeHyphen),
      ("_a-._tcp", .edgeHyphen), ("_a--b._tcp", .doubleHyphen),
    ] as [(String, ServiceTypeError)])
  func `R77: each violation has its own error`(text: String, expected: ServiceTypeError) {
    #expect(throws: expected) { try ServiceType(text) }
    #expect(!expected.description.isEmpty)
  }

  @Test func `a service type has a name within the domain`() {
    #expect(ServiceType("_airhockey._tcp").name() == "_airhockey._tcp.local")
  }
}
