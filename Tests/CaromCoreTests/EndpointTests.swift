import CaromCore
import Testing

@Suite struct EndpointTests {
  @Test func `an IPv6 address is put in brackets before the port`() {
    #expect(Endpoint(.loopback4, port: 7777).description == "127.0.0.1:7777")
    #expect(Endpoint(.loopback6, port: 80).description == "[::1]:80")
    let link = IPAddress.v6(high: 0xFE80 << 48, low: 1, scope: 2)
    #expect(Endpoint(link, port: 5353).description == "[fe80::1%2]:5353")
  }

  @Test func `endpoints are ordered by address, then by port`() {
    let ends = [
      Endpoint(.loopback4, port: 1), Endpoint(.loopback4, port: 2), Endpoint(.loopback6, port: 0),
    ]
    #expect(ends.reversed().sorted() == ends)
  }

  @Test func `a datagram has its endpoints, and unknown fields are zero or nil`() {
    let (a, b) = (Endpoint(.loopback4, port: 1), Endpoint(.loopback4, port: 2))
    let datagram = Datagram([1], from: a, to: b)
    #expect(datagram.source == a && datagram.destination == b && datagram.payload == [1])
    #expect(datagram.interface == 0 && datagram.hopLimit == nil)
    #expect(datagram != Datagram([1], from: a, to: b, interface: 2, hopLimit: 255))
  }
}
