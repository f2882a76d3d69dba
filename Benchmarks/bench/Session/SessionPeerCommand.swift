import ArgumentParser
import EchoPeers
import Foundation
import SessionPeers

/// Runs one side of `bench session` or `bench files`: Carom, kernel TCP, plain datagrams, libuv, or
/// the path between two hosts.
struct SessionPeerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "session-peer", abstract: "Runs one side of 'bench session' or 'bench files'.",
    shouldDisplay: false)

  @Argument(parsing: .captureForPassthrough)
  var words: [String]

  func run() async throws {
    if words.first == "uv" { return try answerWithLibuv() }
    if words.count > 1, let role = SessionSubject.Role(rawValue: words[1]) {
      if words[0] == "carom" { return try await SessionCarom.run(role) }
      if words[0] == "files" { return try await FilesSide.run(role) }
    }
    let status = unsafe session_peer(CommandLine.argc - 2, CommandLine.unsafeArgv + 2)
    if status != 0 { throw ExitCode(status) }
  }

  /// Runs libuv's echo server from `bench echo`.
  private func answerWithLibuv() throws {
    let core = words.compactMap { $0.hasPrefix("core=") ? Int32($0.dropFirst(5)) : nil }.first
    guard echo_server_start(ECHO_UV_UDP, core ?? 0) else { throw ExitCode.failure }
    side_listens(echo_server_port(ECHO_UV_UDP))
    while readLine() != nil { continue }
    echo_server_stop(ECHO_UV_UDP)
  }
}
