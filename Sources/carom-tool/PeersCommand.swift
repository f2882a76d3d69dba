import ArgumentParser
import CaromNearby

/// The `peers` command: shows the peers on the network and how well they are connected.
struct PeersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "peers",
    abstract: "Connect with the peers on the network, and show round trip, loss and cipher.",
    discussion: """
      The peers are those that run this command or `chat`, with the same --type and --code.
      """)

  /// How often the connections are measured.
  private static let interval = Duration.seconds(1)

  @OptionGroup var peers: NearbyOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    _ = try options.current()
    let output = Output(PeerRow.headings, json: options.json)
    let (peers, interfaces) = (peers, options.interfaces)
    try await CommandRunner.run(for: duration.limit, output: output) {
      try await withNetworkLoop { loop throws in
        try await peers.makeNearby(interfaces, on: loop).transceive { nearby in
          await Self.show(nearby.session, on: output)
        }
      }
    }
  }

  private static func show(_ session: Session, on output: Output) async {
    await withTaskGroup { tasks in
      // Lines are read and dropped, so that nobody who chats has to wait for this command.
      tasks.addTask { for await _ in session.messages(on: .chat) {} }
      tasks.addTask { await measure(session, output) }
      for await event in session.events {
        switch event {
        case .joined(let peer):
          output.emit(PeerRow(peer, nil, nil).report(.added))
        case .left(let peer, let reason):
          output.emit(PeerRow(peer, nil, nil).report(.removed, reason: "\(reason)"))
        default: break
        }
      }
      tasks.cancelAll()
    }
  }

  /// Reports every second what has changed.
  private static func measure(_ session: Session, _ output: Output) async {
    var shown: [Peer: PeerRow] = [:]
    while (try? await Task.sleep(for: interval)) != nil {
      var rows: [Peer: PeerRow] = [:]
      for peer in await session.peers {
        guard let statistics = await peer.statistics else { continue }
        let row = PeerRow(peer, statistics, await peer.security)
        rows[peer] = row
        if shown[peer] != row { output.emit(row.report(.updated)) }
      }
      shown = rows
    }
  }
}
