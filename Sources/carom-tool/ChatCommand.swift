import ArgumentParser
import CaromNearby
import Dispatch

/// The `chat` command: sends the lines of standard input to all peers, and shows theirs.
struct ChatCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "chat",
    abstract: "Send lines to everyone on the network who chats, and show theirs.",
    discussion: """
      The first line is sent once somebody else is there. After the end of standard input, the \
      command still shows what the others say.
      """)

  @OptionGroup var peers: NearbyOptions
  @OptionGroup var options: ToolOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    _ = try options.current()
    let output = Output([], json: options.json, isTable: false)
    let (peers, interfaces) = (peers, options.interfaces)
    try await CommandRunner.run(for: duration.limit, output: output) {
      try await withNetworkLoop { loop throws in
        try await peers.makeNearby(interfaces, on: loop).transceive { nearby in
          await Self.chat(nearby.session, output)
        }
      }
    }
  }

  private static func chat(_ session: Session, _ output: Output) async {
    await withTaskGroup { tasks in
      tasks.addTask {
        for await line in session.messages(on: .chat) { output.emit(report(line)) }
      }
      var isSending = false
      for await event in session.events {
        switch event {
        case .joined(let peer):
          output.emit(PeerRow(peer, nil, nil).report(.added))
          if !isSending { tasks.addTask { await send(session) } }
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
  private static func send(_ session: Session) async {
    let (lines, source) = AsyncStream.makeStream(of: String.self)
    DispatchQueue(label: "input").async {
      while let line = readLine() { source.yield(line) }
      source.finish()
    }
    for await line in lines {
      do throws(SendError) {
        try await session.broadcast(line, on: .chat)
      } catch {
        CaromCommand.printError("the line is not sent: \(error)")
      }
    }
  }
}
