import Foundation

/// One implementation in a program that plays either side of a measurement; `session_sides.h` says
/// what it is told and what it tells.
struct SessionSubject: Sendable {
  /// What a side does.
  enum Role: String, Sendable {
    case receive, send, answer, ask, serve, play, burst, flood, stand
  }

  /// What it is called in tables.
  let name: String
  /// The program and its first words; a role and options follow.
  let program: [String]
  /// Options that both of its sides are given.
  var options: [String] = []
  let roles: Set<Role>
  /// Whether what it sends arrives.
  var isReliable = true
  /// Whether it goes over UDP, where an address may change under way.
  var hasDatagrams = true

  /// Whether it takes 4,096 players, and has them at another rate than 60 Hz.
  var hasCrowds = false

  /// Our own, over one kind of link.
  static func carom(_ link: SessionCarom.Link) -> SessionSubject {
    SessionSubject(
      name: "Carom, \(link.rawValue)", program: itself("carom"),
      options: ["link=\(link.rawValue)"],
      roles: [.receive, .send, .answer, .ask, .serve, .play, .burst, .flood, .stand],
      hasDatagrams: link == .datagrams, hasCrowds: link == .datagrams)
  }

  /// Kernel TCP with a congestion control; there is none for games that anybody would choose.
  static func tcp(_ control: String) -> SessionSubject {
    SessionSubject(
      name: "TCP \(control.uppercased())", program: itself("tcp"), options: ["control=\(control)"],
      roles: [.receive, .send], hasDatagrams: false)
  }

  /// Datagrams with nothing on top: the floor.
  static let udp = SessionSubject(
    name: "plain UDP", program: itself("udp"),
    roles: [.receive, .send, .answer, .ask, .serve, .play], isReliable: false, hasCrowds: true)

  /// An echo as one writes it with libuv.
  static let libuv = SessionSubject(name: "libuv", program: itself("uv"), roles: [.answer])

  static func enet(_ executable: String) -> SessionSubject {
    SessionSubject(
      name: "ENet", program: [executable],
      roles: [.receive, .send, .answer, .ask, .serve, .play, .burst])
  }

  /// This program, as a side: `SessionPeerCommand`.
  static func itself(_ words: String...) -> [String] {
    let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    return [path ?? CommandLine.arguments[0], "session-peer"] + words
  }

  /// The words that start a side.
  func command(_ role: Role, _ options: [String]) -> [String] {
    program + [role.rawValue] + self.options + options
  }

  func has(_ roles: Role...) -> Bool { self.roles.isSuperset(of: roles) }
}
