import BenchProbe
import Foundation

/// What a host executes for one player in one tick, on virtual time without sockets, as callgrind
/// counts it. The counts hardly depend on the machine.
struct SessionInstructions {
  /// The instructions.
  let instructions: Double
  /// The misses of a data cache of 32 KiB, which holds a fraction of what the host keeps about its
  /// players: about the number of cache lines that the host loads.
  let cacheMisses: Double

  /// The arguments of `bench` that play the game whose instructions are counted.
  private static let arguments = SessionSubject.itself("instructions")
  private static let players = 100
  private static let ticks = 200

  /// Whether this process was started to play the game.
  static var isWanted: Bool { CommandLine.arguments.dropFirst() == arguments.dropFirst() }

  /// Plays the game whose instructions are counted.
  static func play() { SessionVirtualServer.play(players, ticks: ticks) }

  /// Returns Carom's counts; nil if valgrind is not installed, or its headers were missing when
  /// this program was built.
  static func measure() async throws -> SessionInstructions? { try await count(arguments) }

  /// Returns the counts of ENet, whose host plays the same game; nil if ENet or valgrind is
  /// missing. ENet neither acknowledges such messages nor measures the path with them, and Carom
  /// does both.
  static func measureENet() async throws -> SessionInstructions? {
    guard let program = await SessionENet.counter() else { return nil }
    return try await count([program])
  }

  /// Returns the counts of a program that plays the game with these numbers of players and ticks.
  private static func count(_ command: [String]) async throws -> SessionInstructions? {
    guard bench_can_count_instructions() else { return nil }
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // Valgrind cannot read the debug information of all versions of Swift.
    let script = """
      strip -o program "$0" && valgrind --tool=callgrind --collect-atstart=no --cache-sim=yes \
        --I1=32768,8,64 --D1=32768,8,64 --LL=4194304,16,64 --callgrind-out-file=/dev/null \
        ./program "$@"
      """
    let valgrind = try ChildProgram(
      ["/bin/bash", "-c", script] + command, in: folder, ["SWIFT_DETERMINISTIC_HASHING": "1"])
    func count(_ title: String) async -> Double? {
      let line = await valgrind.line(within: .seconds(300)) { $0.contains(title) }
      let number = line?.text.split(separator: title, maxSplits: 1).last?
        .split(separator: " ").first?.filter { $0 != "," }
      return number.flatMap { Double($0) }.map { $0 / Double(players * ticks) }
    }
    guard let instructions = await count("I   refs:"), let misses = await count("D1  misses:")
    else { return nil }
    return SessionInstructions(instructions: instructions, cacheMisses: misses)
  }
}
