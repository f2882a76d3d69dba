import Foundation
import TestRedis
import Testing

/// A whole fleet in a lab: a Redis server, hosts and players in processes of their own.
@Suite(
  .turns, .enabled(if: Lab.isPossible, Lab.need),
  .enabled(if: RedisServer.path != nil, Comment(rawValue: RedisServer.need)))
struct FleetLabTests {
  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Lab/fleet.py")

  @Test func `matches outlive drained, killed and cut-off hosts, and a server that forgets`()
    async throws
  {
    let folder = try RunningTool.executable().deletingLastPathComponent()
    let fleet = try RunningProcess(
      Self.script,
      ["--hosts", "5", "--matches", "10", "--shots", "70", "--pace", "2"],
      environment: [
        "PEER": folder.appending(path: "fleet-peer").path,
        "CAROM": folder.appending(path: "carom").path,
      ], within: .seconds(150))
    let status = await fleet.status
    let (output, errors) = await (fleet.output.all(), fleet.errors.all())
    #expect(status == 0, "\(output + errors)")
    #expect(output.count { $0.hasPrefix("ok ") } == 10, "\(output)")
  }
}
