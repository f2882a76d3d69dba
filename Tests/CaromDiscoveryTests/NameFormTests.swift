import CaromCore
import CaromDNS
import CaromTransport
import Testing

@testable import CaromDiscovery

/// Services whose published names are not in Unicode normalization form C.
@Suite(.timeLimit(.minutes(1))) struct NameFormTests {
  private static let label = "Cafe\u{301}"

  /// Answers queries on loopback with the records of a service whose name is not composed. Returns
  /// the sockets, which must be kept.
  private func answer(_ type: ServiceType, on loop: NetworkLoop) throws -> [UDPSocket] {
    let index = try #require(Loopback.interface).index
    let name = try type.name().prefixed(byUncomposed: Self.label)
    let address = IPAddress.v4(0x7F00_0000 | UInt32.random(in: 0x10000..<0xFF_0000))
    var response = Message(isResponse: true)
    let text: TXTRecord = ["a": "b"]
    let host = try Name(text: "\(type.name().firstLabel).local")
    response.answers = [
      Record(
        name, .service(priority: 0, weight: 0, port: 7777, target: host), timeToLive: 120,
        flushesCache: true),
      Record(name, .text(text.encoded), timeToLive: 120, flushesCache: true),
      Record(host, .address(address), timeToLive: 120, flushesCache: true),
    ]
    let payload = response.encoded()
    var options = UDPOptions()
    options.reuseAddress = true
    options.reusePort = true
    let sender = try UDPSocket(on: loop, bind: Endpoint(address, port: 5353), options: options) {
      _ in
    }
    try sender.setMulticastInterface(index)
    let listener = try UDPSocket(on: loop, bind: MulticastGroup.v4, options: options) { batch in
      for index in batch.indices {
        let message = try? Message(decoding: batch[index].copy().payload)
        guard message?.questions.contains(where: { $0.key.name == name }) == true else { continue }
        sender.send(payload, to: MulticastGroup.v4)
        sender.flush()
      }
    }
    try listener.join(MulticastGroup.v4.address, on: index)
    return [sender, listener]
  }

  @Test func `R64: a service with a decomposed name is resolved and monitored by its name`()
    async throws
  {
    let type = try Loopback.makeType()
    try await onLoop { loop in
      let sockets = try answer(type, on: loop)
      let resolver = ServiceResolver(
        Self.label, type, interfaces: Loopback.selection, on: loop)
      let resolved = try await resolver.resolve()
      #expect(resolved.endpoints.map(\.port) == [7777])
      #expect(resolved.name.utf8.elementsEqual(Self.label.utf8))
      for try await text in resolver.txtRecords {
        #expect(text == ["a": "b"])
        break
      }
      for try await resolution in resolver.resolutions {
        #expect(resolution.endpoints == resolved.endpoints)
        break
      }
      for socket in sockets { socket.close() }
    }
  }
}
