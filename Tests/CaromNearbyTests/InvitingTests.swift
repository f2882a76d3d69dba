import CaromNearby
import Testing

/// Invitations between processes that find each other by multicast DNS over the loopback interface.
@Suite(.timeLimit(.minutes(1)), .serialized) struct InvitingTests {
  /// Runs an advertising and a browsing side, and passes the peer that the latter has found.
  private func withTwo<Result: Sendable>(
    advertising: @escaping @Sendable (NearbySession) async throws -> Void,
    browsing: (NearbySession, NearbyPeer) async throws -> Result
  ) async throws -> Result {
    let type = try makeServiceType()
    return try await withNetworkLoop { loop in
      try await withThrowingTaskGroup(of: Void.self) { tasks in
        tasks.addTask {
          var host = makeNearby("Maya", type, on: loop)
          host.info = ["table": "open"]
          try await host.run(.advertises, advertising)
        }
        defer { tasks.cancelAll() }
        return try await makeNearby("Leo", type, on: loop).run(.browses) { nearby in
          for await change in nearby.changes {
            if case .added(let peer) = change { return try await browsing(nearby, peer) }
          }
          throw CancellationError()
        }
      }
    }
  }

  @Test func `an accepted invitation joins, and its context arrives`() async throws {
    let line = try await withTwo { nearby in
      for await invitation in nearby.invitations {
        #expect(invitation.peer.name == "Leo")
        #expect(invitation.context == [1, 2, 3])
        #expect(await invitation.accept())
        let peers = await nearby.joined()
        for peer in peers { try await peer.send("welcome", on: .lines) }
      }
    } browsing: { nearby, peer in
      #expect(peer.name == "Maya")
      #expect(peer.info["table"] == "open")
      #expect(await nearby.nearbyPeers == [peer])
      let result = try await nearby.invite(peer.id, context: [1, 2, 3])
      #expect(result == .accepted)
      for await line in nearby.session.messages(on: .lines) { return line.message }
      return ""
    }
    #expect(line == "welcome")
  }

  @Test func `a declined invitation says so, and the peer can be invited again`() async throws {
    let results = try await withTwo { nearby in
      for await invitation in nearby.invitations { #expect(await invitation.decline()) }
    } browsing: { nearby, peer in
      let first = await nearby.invite(peer.id)
      let second = await nearby.invite(peer.id)
      #expect(await nearby.session.peers.isEmpty)
      return [first, second]
    }
    #expect(results == [.declined, .declined])
  }

  @Test func `an invitation that nobody answers times out`() async throws {
    let result = try await withTwo { nearby in
      for await invitation in nearby.invitations {
        for await event in nearby.session.events { Issue.record("\(event)") }
        #expect(await !invitation.accept())
      }
    } browsing: { nearby, peer in
      await nearby.invite(peer.id, within: .milliseconds(300))
    }
    #expect(result == .timedOut)
  }

  @Test func `a context that is too long is an error that says the limit, and nothing is sent`()
    async throws
  {
    let result = try await withTwo { nearby in
      for await invitation in nearby.invitations {
        #expect(invitation.context.count == NearbyInvitation.maximumContextLength)
        #expect(await invitation.accept())
      }
    } browsing: { nearby, peer in
      let limit = NearbyInvitation.maximumContextLength
      #expect(limit == 4096)
      let long = [UInt8](repeating: 7, count: limit + 1)
      let error = InvitationError.contextTooLong(bytes: 4097, limit: 4096)
      await #expect(throws: error) { try await nearby.invite(peer.id, context: long) }
      await #expect(throws: error) {
        let choices = AsyncStream<NearbyPicker.Choice> { $0.finish() }
        _ = try await nearby.pick(NearbyPicker(), choices: choices, context: long) { _ in
          Issue.record("the list is shown")
        }
      }
      #expect("\(error)".contains("4096"))
      return try await nearby.invite(peer.id, context: Array(long.dropLast()))
    }
    #expect(result == .accepted)
  }

  @Test func `cancelling the task withdraws the invitation`() async throws {
    let result = try await withTwo { nearby in
      for await _ in nearby.invitations {}
    } browsing: { nearby, peer in
      await withTaskGroup { tasks in
        tasks.addTask { await nearby.invite(peer.id) }
        tasks.cancelAll()
        return await tasks.next()
      }
    }
    #expect(result == .cancelled)
  }
}
