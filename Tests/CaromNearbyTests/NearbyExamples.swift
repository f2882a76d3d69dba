import CaromNearby

// The examples of the page Nearby. Each is repeated there.

extension MessageChannel<String> {
  fileprivate static var chat: Self { .init(0, .reliableOrdered) }
}

private func transceiving(on loop: NetworkLoop) async throws {
  try await Nearby("Maya", type: "_chat._udp", on: loop).transceive { nearby in
    for await line in nearby.session.messages(on: .chat) { print(line.peer.name, line.message) }
  }
}

private func browsing(on loop: NetworkLoop) async throws {
  let nearby = Nearby("Leo", type: "_cards._udp", on: loop)
  try await nearby.run(.browses) { nearby in
    for await change in nearby.changes {
      guard case .added(let peer) = change, peer.info["table"] == "open" else { continue }
      switch try await nearby.invite(peer.id, context: [1]) {
      case .accepted: print("playing with \(peer.name)")
      case .declined, .busy, .timedOut: continue
      case .refused(let reason): print("cannot connect to \(peer.name): \(reason)")
      case .cancelled: return
      }
    }
  }
}

private func advertising(on loop: NetworkLoop) async throws {
  var nearby = Nearby("Maya", type: "_cards._udp", on: loop)
  nearby.info = ["table": "open"]
  try await nearby.run(.advertises) { nearby in
    for await invitation in nearby.invitations {
      if invitation.context == [1] { await invitation.accept() } else { await invitation.decline() }
    }
  }
}

private func picking(
  _ nearby: NearbySession, _ choices: AsyncStream<NearbyPicker.Choice>
) async {
  let peers = await nearby.pick(NearbyPicker(1...3), choices: choices) { picker in
    for row in picker.rows { print(row.peer.name, row.state) }
  }
  _ = peers
}

private struct Votes: ReplicatedState {
  var count: [String: Int] = [:]

  mutating func apply(_ candidate: String, _ entry: LedgerEntry) {
    count[candidate, default: 0] += 1
  }
}

private func voting(_ nearby: NearbySession) async throws {
  try await nearby.session.withGroup(Votes()) { group in
    try await group.apply("red")
    for await change in group.changes {
      switch change {
      case .applied: print(await group.state.count)
      case .leader(let leader): print(leader == nearby.local.id ? "we lead" : "somebody else leads")
      case .roster(let roster): print(roster.members.map(\.name))
      default: continue
      }
    }
  }
}
