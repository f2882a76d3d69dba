import ArgumentParser
import CaromNearby

/// The `chat` command: sends the lines of standard input to all peers, and shows theirs.
struct ChatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chat",
    abstract: "Send lines to everyone on the network who chats, and show theirs.",
    discussion: """
      The first line is sent once somebody else is there. After the end of standard input, the \
      command still shows what the others say.

      With --pick, you choose with whom to chat: the command lists those who chat, and a line \
      with a number invites one of them, an empty line begins with those who have joined, and a \
      line with q, or the end of the input, gives up. Until you invite them, others do not see you.
      """)

  @OptionGroup var peers: NearbyOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions
  @Flag(help: "Choose with whom to chat.") var pick = false

  func run() async throws {
    _ = try options.current()
    let output = Output([], json: options.json, isTable: false)
    let (peers, interfaces, isPicking) = (peers, options.interfaces, pick)
    let input = InputLines()
    try await CommandRunner.run(for: duration.limit, output: output) {
      try await withNetworkLoop { loop throws in
        let nearby = try peers.makeNearby(interfaces, on: loop)
        guard isPicking else {
          return try await nearby.transceive { await Self.chat($0.session, output, input) }
        }
        try await nearby.run(.browses) { nearby in
          let face = PickerFace(NearbyPicker(), output, input)
          guard let picked = await face.run(in: nearby) else { return }
          for peer in picked { output.emit(PeerRow(peer, nil, nil).report(.added)) }
          await Self.chat(nearby.session, output, input, hasPeers: true)
        }
      }
    }
  }

  /// Sends lines and shows those of the others until the session ends. `hasPeers` says that some
  /// have joined already.
  private static func chat(
    _ session: Session, _ output: Output, _ input: InputLines, hasPeers: Bool = false
  ) async {
    await withTaskGroup { tasks in
      tasks.addTask {
        for await line in session.messages(on: .chat) { output.emit(report(line)) }
      }
      var isSending = hasPeers
      if hasPeers { tasks.addTask { await send(input, session) } }
      for await event in session.events {
        switch event {
        case .joined(let peer):
          output.emit(PeerRow(peer, nil, nil).report(.added))
          if !isSending { tasks.addTask { await send(input, session) } }
          isSending = true
        case .left(let peer, let reason):
          output.emit(PeerRow(peer, nil, nil).report(.removed, reason: "\(reason)"))
        default: break
        }
      }
      tasks.cancelAll()
    }
  }

  private static func report(_ line: Received<String>) -> Report {
    let (peer, text) = (line.peer, line.message)
    return Report(
      .line, peer.id.description, cells: [peer.name, text],
      [
        .init("name", .string(peer.name)), .init("id", .string(peer.id.description)),
        .init("text", .string(text)),
      ])
  }

  /// Sends the lines of standard input to all peers.
  private static func send(_ input: InputLines, _ session: Session) async {
    while let line = await input.next() {
      guard await !session.peers.isEmpty else {
        CaromCommand.printError("the line is not sent: nobody is there any more")
        continue
      }
      do throws(SendError) {
        try await session.broadcast(line, on: .chat)
      } catch {
        CaromCommand.printError("the line is not sent: \(error)")
      }
    }
  }
}
