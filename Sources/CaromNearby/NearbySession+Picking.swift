import CaromCore
import CaromDiscovery
import CaromGroup
import CaromSession

extension NearbySession {
  private enum PickerInput: Sendable {
    case change(DiscoveryChange<NearbyPeer>)
    case event(PeerEvent)
    case choice(NearbyPicker.Choice)
    case ended(PeerID, InvitationResult)
  }

  /// Lets a person pick the peers to connect with. Until it returns, this method is the reader of
  /// `changes` and of `session.events`.
  ///
  /// - Parameters:
  ///   - picker: The list as it is at first: its limits, and the peers that it shows.
  ///   - choices: What the person does. The end of the sequence is a `cancel`.
  ///   - limit: The time that each invitation waits for its answer.
  ///   - show: Receives the list after every change.
  /// - Returns: The peers that have joined, once the person finishes; nil if the person gives up or
  ///   the task is cancelled. Peers that have joined stay connected in both cases.
  public func pick<Choices: AsyncSequence & Sendable>(
    _ picker: NearbyPicker, choices: Choices, within limit: Duration = invitationLimit,
    show: @escaping @Sendable (NearbyPicker) -> Void
  ) async -> [Peer]? where Choices.Element == NearbyPicker.Choice, Choices.Failure == Never {
    await run(picker, choices, context: [], within: limit, show)
  }

  /// Lets a person pick the peers to connect with, as the method without a context does, and tells
  /// the applications of the invited peers why.
  ///
  /// - Parameters:
  ///   - picker: The list as it is at first: its limits, and the peers that it shows.
  ///   - choices: What the person does. The end of the sequence is a `cancel`.
  ///   - context: What the invited peers are told: at most
  ///     `NearbyInvitation.maximumContextLength` bytes.
  ///   - limit: The time that each invitation waits for its answer.
  ///   - show: Receives the list after every change.
  /// - Returns: The peers that have joined, once the person finishes; nil if the person gives up or
  ///   the task is cancelled.
  /// - Throws: `contextTooLong`, before the list is shown.
  public func pick<Choices: AsyncSequence & Sendable>(
    _ picker: NearbyPicker, choices: Choices, context: [UInt8],
    within limit: Duration = invitationLimit,
    show: @escaping @Sendable (NearbyPicker) -> Void
  ) async throws(InvitationError) -> [Peer]?
  where Choices.Element == NearbyPicker.Choice, Choices.Failure == Never {
    try InvitationError.check(context)
    return await run(picker, choices, context: context, within: limit, show)
  }

  /// Shows the list until the person has chosen. The length of the context has been checked.
  private func run<Choices: AsyncSequence & Sendable>(
    _ picker: NearbyPicker, _ choices: Choices, context: [UInt8], within limit: Duration,
    _ show: @escaping @Sendable (NearbyPicker) -> Void
  ) async -> [Peer]? where Choices.Element == NearbyPicker.Choice, Choices.Failure == Never {
    let (inputs, source) = AsyncStream.makeStream(of: PickerInput.self)
    return await withTaskGroup(of: Void.self) { tasks in
      defer { tasks.cancelAll() }
      tasks.addTask { for await change in self.changes { source.yield(.change(change)) } }
      tasks.addTask { for await event in self.session.events { source.yield(.event(event)) } }
      tasks.addTask {
        for await choice in choices { source.yield(.choice(choice)) }
        source.yield(.choice(.cancel))
      }
      var picker = picker
      for await input in inputs {
        switch input {
        case .change(let change): picker.handle(change)
        case .event(.joined(let peer)):
          picker.handleJoined(NearbyPeer(id: peer.id, name: peer.name))
        case .event(.left(let peer, _)): picker.handleLeft(peer.id)
        case .event: continue
        case .ended(let peer, let result): picker.handleEnd(of: peer, result)
        case .choice(.invite(let peer)):
          guard picker.invite(peer) else { continue }
          tasks.addTask {
            let result = await self.node.invite(peer, context: context, within: limit)
            source.yield(.ended(peer, result))
          }
        case .choice(.finish):
          guard picker.canFinish else { continue }
          let joined = Set(picker.rows.filter { $0.state == .joined }.map(\.peer.id))
          return await session.peers.filter { joined.contains($0.id) }
        case .choice(.cancel): return nil
        }
        show(picker)
      }
      return nil
    }
  }
}
