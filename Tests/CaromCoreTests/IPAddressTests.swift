import CaromCore
import Testing

@Suite struct IPAddressTests {
  @Test(arguments: [
    "0.0.0.0", "127.0.0.1", "255.255.255.255", "169.254.1.2", "::", "::1", "fe80::1%2",
    "2001:db8::1", "2001:db8:0:1:1:1:1:1", "2001:0:0:1::1", "1:2:3:4:5:6:7:8", "ff02::fb",
    "1::", "1:0:0:2::3", "0:2:3:4:5:6:7:8", "2001:db8::1:0:0:1", "::1:0:0:1:0:0",
  ])
  func `the shortest text of an address round-trips`(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(address.description == text)
    #expect(IPAddress(bytes: address.bytes)?.bytes == address.bytes)
  }

  @Test(arguments: [
    ("2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8::1"),
    ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("0:0:1::", "0:0:1::"),
    ("::ffff:10.0.0.1", "::ffff:a00:1"),
    ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"),
  ])
  func `other texts of IPv6 become the shortest (RFC 5952)`(text: String, shortest: String) {
    #expect(IPAddress(text)?.description == shortest)
  }

  @Test(arguments: [
    "", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.-4", "1.2.3.+4", " 1.2.3.4", "1.2.3.4 ",
    "01.2.3.4", "1.2.3.04", "1..2.3", "0x1.2.3.4", "1.2.3.4%1", ":", ":::", "1:2", "1::2::3",
    ":1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "12345::", "g::", "::1%",
    "::1%eth0",
    "::1%-1", "::1%+1", "::1%4294967296", "::1.2.3", "::1.2.3.4:5", "1.2.3.4::", "１.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
  ])
  func `text that is not an address parses as nil`(text: String) {
    #expect(IPAddress(text) == nil)
  }

  @Test func `multicast, link-local and loopback addresses are recognized`() throws {
    let kinds: [(String, multicast: Bool, linkLocal: Bool, loopback: Bool)] = [
      ("224.0.0.251", true, false, false), ("239.255.255.255", true, false, false),
      ("240.0.0.1", false, false, false), ("223.255.255.255", false, false, false),
      ("169.254.0.1", false, true, false), ("169.253.0.1", false, false, false),
      ("127.255.0.1", false, false, true), ("128.0.0.1", false, false, false),
      ("ff02::fb", true, false, false), ("fe80::1", false, true, false),
      ("febf::1", false, true, false), ("fec0::1", false, false, false),
      ("::1", false, false, true), ("::", false, false, false),
    ]
    for kind in kinds {
      let address = try #require(IPAddress(kind.0))
      #expect(address.isMulticast == kind.multicast, "\(kind.0)")
      #expect(address.isLinkLocal == kind.linkLocal, "\(kind.0)")
      #expect(address.isLoopback == kind.loopback, "\(kind.0)")
      #expect(address.isV6 == kind.0.contains(":"))
    }
  }

  @Test func `the address constants have the expected text`() {
    #expect(IPAddress("127.0.0.1") == .loopback4)
    #expect(IPAddress("::1") == .loopback6)
    #expect(IPAddress("0.0.0.0") == .any4)
    #expect(IPAddress("::") == .any6)
  }

  @Test func `an address is converted to bytes in network order and back`() {
    #expect(IPAddress("1.2.3.4")?.bytes == [1, 2, 3, 4])
    #expect(
      IPAddress("102:304::f00")?.bytes == [1, 2, 3, 4] + Array(repeating: 0, count: 10) + [15, 0])
    #expect(IPAddress(bytes: [1, 2, 3, 4]) == IPAddress("1.2.3.4"))
    let link = [0xFE, 0x80] + [UInt8](repeating: 0, count: 13) + [1]
    #expect(IPAddress(bytes: link, scope: 3) == IPAddress("fe80::1%3"))
    for count in [0, 3, 5, 15, 17] {
      #expect(IPAddress(bytes: [UInt8](repeating: 0, count: count)) == nil)
    }
  }

  @Test func `only link-local and multicast IPv6 addresses are scoped`() {
    #expect(IPAddress("fe80::1")?.scoped(to: 2) == IPAddress("fe80::1%2"))
    #expect(IPAddress("ff02::fb%1")?.scoped(to: 2) == IPAddress("ff02::fb%2"))
    #expect(IPAddress("fe80::1%2")?.scoped(to: 0) == IPAddress("fe80::1"))
    #expect(IPAddress("2001:db8::1")?.scoped(to: 2) == IPAddress("2001:db8::1"))
    #expect(IPAddress("169.254.0.1")?.scoped(to: 2) == IPAddress("169.254.0.1"))
  }

  @Test func `addresses are ordered by version, then by value`() throws {
    let texts = ["1.2.3.4", "1.2.4.0", "255.0.0.0", "::1", "::2", "1::", "fe80::1%1", "fe80::1%2"]
    let addresses = try texts.map { try #require(IPAddress($0)) }
    #expect(addresses.reversed().sorted() == addresses)
    #expect(!(addresses[0] < addresses[0]))
  }

  @Test func `random addresses are parsed back from their text`() {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<2_000 {
      let mask = generator.next() & generator.next()
      let address = IPAddress.v6(
        high: generator.next() & mask, low: generator.next() & generator.next() & ~mask,
        scope: UInt32.random(in: 0...3, using: &generator))
      #expect(IPAddress(address.description) == address)
    }
  }
}
