import CaromCore
import CaromDNS
import Testing

@Suite struct UnicastConfigurationTests {
  private func parse(_ text: String, hostName: String = "") -> UnicastConfiguration {
    UnicastConfiguration(parsing: Array(text.utf8), hostName: hostName) {
      $0 == "eth0" ? 7 : nil
    }
  }

  @Test func `servers and domains are parsed, and unknown lines are skipped`() {
    let read = parse(
      """
      # a comment
      ; another
      nameserver 192.0.2.53
      nameserver\t2001:db8::53   \r
      nameserver fe80::1%eth0
      nameserver fe80::1%nowhere
      nameserver not-an-address
      nameserver
      options timeout:2 rotate
      domain old.example
      search example.com Sub.Example.com. example.COM . local a.local
      """)
    #expect(
      read.servers == [
        Endpoint(.v4(0xC000_0235), port: 53),
        Endpoint(.v6(high: 0x2001_0DB8 << 32, low: 0x53, scope: 0), port: 53),
        Endpoint(.v6(high: 0xFE80 << 48, low: 1, scope: 7), port: 53),
      ])
    #expect(read.domains == ["example.com", "sub.example.com"])
  }

  @Test func `without configured domains, the host name's domain is used`() {
    #expect(parse("", hostName: "maya.example.com").domains == ["example.com"])
    #expect(parse("search\n", hostName: "maya.example.com").domains == [])
    #expect(parse("domain a.example b.example").domains == ["a.example"])
    #expect(parse("", hostName: "maya").domains == [])
    #expect(parse("", hostName: "maya.local").domains == [])
  }

  @Test func `the numbers of bytes, servers and domains are limited`() {
    let servers = (0..<40).map { "nameserver 10.0.0.\($0)\n" }.joined()
    let domains = "search " + (0..<40).map { "d\($0).example" }.joined(separator: " ") + "\n"
    let long = String(repeating: "#", count: UnicastConfiguration.textLimit) + "\n"
    #expect(parse(servers).servers.count == UnicastConfiguration.serverLimit)
    #expect(parse(domains).domains.count == UnicastConfiguration.domainLimit)
    #expect(parse(long + servers) == UnicastConfiguration())
  }

  @Test func `R81: domain lists are queried in local, search domains and subnets`() {
    let addresses = [
      Link.Address(.v4(0xC0A8_0C22), prefixLength: 16), Link.Address(.loopback4, prefixLength: 8),
      Link.Address(.v4(0xA9FE_0101), prefixLength: 16),
      Link.Address(.v6(high: 0x2001_0DB8_0000_0012, low: 0x34, scope: 0), prefixLength: 60),
      Link.Address(.v6(high: 0xFE80 << 48, low: 1, scope: 3), prefixLength: 64),
    ]
    let domains = DomainEnumeration.domains(
      searchDomains: ["example.com", "Example.com"], addresses: addresses)
    let zeros = String(repeating: "0.", count: 17)
    #expect(
      domains.map(\.description) == [
        "local", "example.com", "0.0.168.192.in-addr.arpa",
        zeros + "1.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa",
      ])
  }

  @Test func `the number of domains to query is limited`() throws {
    let many = try (0..<100).map { try Name(text: "d\($0).example") }
    let domains = DomainEnumeration.domains(searchDomains: many, addresses: [])
    #expect(domains.count == DomainEnumeration.domainLimit)
    #expect(domains.first == "local")
  }
}
