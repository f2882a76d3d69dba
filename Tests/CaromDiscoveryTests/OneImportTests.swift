import CaromDiscovery
import Testing

@Test func `a service and its TXT record need no import but the discovery's`() throws {
  let txt: TXTRecord = ["seats": "1/2"]
  let service = AdvertisedService(name: "Maya's table", type: "_x._tcp", port: 7_777, txt: txt)
  try service.validate()
  let endpoint = Endpoint(.loopback4, port: service.port)
  #expect(endpoint.port == 7_777)
  #expect(DiscoveryError.transport(TransportError.unreachable) != .timedOut)
}
