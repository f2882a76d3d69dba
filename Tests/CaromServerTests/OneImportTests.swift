import CaromServer
import Testing

@Test func `a server's session needs no import but the server's`() {
  let logger = Logger(label: "rooms")
  let service = SessionService { loops in
    let me = PeerInfo(id: .random(), name: "host", application: "rooms")
    try await Session.host(as: me, on: [.loopback4], loops: loops) { session, _ in
      await session.log(to: logger)
    }
  }
  _ = service
}
