import CaromCore
import CaromNearby
import CaromSession
import CaromTransport
import Testing

@Suite struct PickerTests {
  private static func makePeer(_ name: String, _ number: UInt64, _ info: TXTRecord = [:])
    -> NearbyPeer
  {
    NearbyPeer(id: PeerID(high: number, low: 0), name: name, info: info)
  }

  private let maya = makePeer("Maya", 1)
  private let leo = makePeer("Leo", 2)
  private let ada = makePeer("Ada", 3)

  private func names(_ picker: NearbyPicker) -> [String] { picker.rows.map(\.peer.name) }

  @Test func `peers are listed in the order of their names, without those that are filtered out`() {
    var picker = NearbyPicker(where: { $0.info["full"] == nil })
    for peer in [maya, leo, ada] { picker.handle(.added(peer)) }
    #expect(names(picker) == ["Ada", "Leo", "Maya"])
    picker.handle(.updated(Self.makePeer("Leo", 2, ["full": "1"])))
    #expect(names(picker) == ["Ada", "Maya"])
    picker.handle(.removed(ada))
    #expect(names(picker) == ["Maya"])
    let isInvited = picker.invite(leo.id)
    #expect(!isInvited)
  }

  @Test func `no more peers are invited than may join, and a declined one makes room`() {
    var picker = NearbyPicker(1...2)
    for peer in [maya, leo, ada] { picker.handle(.added(peer)) }
    #expect(!picker.canFinish)
    let invited = [maya, maya, leo].map { picker.invite($0.id) }
    #expect(invited == [true, false, true])
    #expect(!picker.canInvite(ada.id))
    picker.handleEnd(of: leo.id, .declined)
    #expect(picker.rows.first { $0.peer == leo }?.state == .ended(.declined))
    #expect(picker.canInvite(ada.id))
    picker.handleEnd(of: maya.id, .accepted)
    #expect(picker.canFinish)
    #expect(picker.joinedCount == 1)
  }

  @Test func `more peers than may join, by their own invitations, have to become fewer first`() {
    var picker = NearbyPicker(1...2)
    for peer in [maya, leo, ada] { picker.handleJoined(peer) }
    #expect(!picker.canFinish)
    picker.handleLeft(leo.id)
    #expect(picker.canFinish)
  }

  @Test(.timeLimit(.minutes(1)))
  func `a side that is added at its own endpoints is connected to`() async throws {
    let type = try makeServiceType()
    try await withNetworkLoop { loop in
      try await makeNearby("Maya", type, on: loop).run([.joinsEveryone]) { maya in
        let endpoints = await maya.endpoints
        #expect(endpoints.contains(Endpoint(.loopback4, port: maya.port)))
        try await makeNearby("Leo", type, on: loop).run([.joinsEveryone]) { leo in
          await leo.add(NearbyPeer(id: maya.local.id, name: "Maya"), at: endpoints)
          #expect(await leo.joined().map(\.id) == [maya.local.id])
        }
      }
    }
  }

  @Test func `a peer that has joined stays in the list until it leaves`() {
    var picker = NearbyPicker()
    picker.handle(.added(maya))
    picker.handleJoined(maya)
    picker.handle(.removed(maya))
    #expect(picker.rows.map(\.state) == [.joined])
    picker.handleLeft(maya.id)
    #expect(picker.rows.isEmpty)
    picker.handleJoined(leo)
    picker.handle(.added(leo))
    picker.handleLeft(leo.id)
    #expect(picker.rows.map(\.state) == [.visible])
  }

  @Test(.timeLimit(.minutes(1)))
  func `a person invites the peers of the list, and finishes when they have joined`() async throws {
    let type = try makeServiceType()
    try await withNetworkLoop { loop in
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        for name in ["Leo", "Ada"] {
          tasks.addTask {
            try await makeNearby(name, type, on: loop).run(.advertises) { nearby in
              for await invitation in nearby.invitations { await invitation.accept() }
            }
          }
        }
        let picked = try await makeNearby("Maya", type, on: loop).run(.browses) { nearby in
          let (choices, person) = AsyncStream.makeStream(of: NearbyPicker.Choice.self)
          return await nearby.pick(NearbyPicker(2...2), choices: choices) { picker in
            for row in picker.rows where row.state == .visible {
              person.yield(.invite(row.peer.id))
            }
            person.yield(.finish)
          }
        }
        #expect(Set(picked?.map(\.name) ?? []) == ["Leo", "Ada"])
        tasks.cancelAll()
      }
    }
  }

  @Test func `a person gives up, and the end of the choices is the same`() async throws {
    try await withNetworkLoop { loop in
      let result = try await makeNearby("Maya", "_carom-pick._udp", on: loop).run([]) { nearby in
        let (choices, person) = AsyncStream.makeStream(of: NearbyPicker.Choice.self)
        person.yield(.finish)  // nobody has joined, so this has no effect
        person.finish()
        return await nearby.pick(NearbyPicker(), choices: choices) { _ in }
      }
      #expect(result == nil)
    }
  }
}
