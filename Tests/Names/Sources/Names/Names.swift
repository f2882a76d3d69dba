import Carom
import CaromServer
import NIOCore
import ServiceLifecycle

/// A program that imports Carom beside the packages of other servers, and names the types of each
/// without a qualifier: a name that becomes ambiguous is an error here.
@main enum Names {
  /// A service of swift-service-lifecycle.
  struct Idle: Service {
    func run() async throws {}
  }

  /// SwiftNIO's types of these names.
  static func close(_ channel: any Channel, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
    eventLoop.flatSubmit { channel.close() }
  }

  static func read(_ buffer: inout ByteBuffer, from address: SocketAddress) -> UInt8? {
    _ = address.port
    return buffer.readInteger(as: UInt8.self)
  }

  /// Carom's types, which stand beside them.
  static func main() async throws {
    let service: any Service = Idle()
    try await service.run()
    let advertised = AdvertisedService(name: "Maya", type: "_names._tcp", port: 1)
    try advertised.validate()
    let chat = MessageChannel<String>(0, .reliableOrdered)
    let endpoint = Endpoint(.loopback4, port: advertised.port)
    try await withNetworkLoop { (loop: NetworkLoop) in
      let me = PeerInfo(id: .random(), name: "Maya", application: "names")
      let rooms: any Service = SessionService(on: loop) { loop in
        try await Session.host(as: me, on: [endpoint.address], loop: loop) { session, _ in
          _ = session.takeMessages(on: chat)
        }
      }
      try await rooms.run()
    }
    print("the names of Carom, SwiftNIO and ServiceLifecycle are distinct")
  }
}
