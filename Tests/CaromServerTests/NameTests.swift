import Carom
import CaromServer
import ServiceLifecycle
import Testing

/// The names of Carom beside those of the packages that servers use, without qualifiers.
@Suite struct NameTests {
  private struct Idle: Service {
    func run() async throws {}
  }

  @Test func `Service is ServiceLifecycle's, and Carom's types have names of their own`()
    async throws
  {
    let service: any Service = Idle()
    try await service.run()
    let advertised = AdvertisedService(name: "Maya", type: "_x._tcp", port: 1)
    try advertised.validate()
    let channel = MessageChannel<String>(0, .reliableOrdered)
    #expect(channel.id == 0)
    try await withNetworkLoop { loop in
      let same: NetworkLoop = loop
      let rooms: any Service = SessionService(on: same) { _ in }
      try await rooms.run()
    }
  }
}
