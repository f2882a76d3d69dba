import ArgumentParser
import CaromCore
import CaromFleet
import CaromPlacement

/// The `fleet` command: shows the hosts of a fleet, places matches there, and drains hosts.
struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Show the hosts of a fleet, find hosts for matches, and drain hosts.",
    discussion: """
      A fleet is a number of hosts that one Redis server knows. A password is better given in a \
      file than in the address, which other users of this machine can see.
      """,
    subcommands: [
      FleetStatusCommand.self, FleetWatchCommand.self, FleetPlaceCommand.self,
      FleetDrainCommand.self, FleetResultCommand.self,
    ])
}

/// The `fleet status` command: shows the hosts of a fleet once.
struct FleetStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the hosts of a fleet, their seats, matches and load.")

  @OptionGroup var options: FleetOptions
  @OptionGroup var duration: TimeLimitOptions

  func run() async throws {
    let output = Output(FleetRows.headings, json: options.json)
    try await options.run(output: output, for: duration.answerLimit) { directory in
      let status = try await directory.status()
      for host in status.hosts { output.emit(FleetRows.report(.added, host)) }
      output.emit(FleetRows.totals(status))
    }
  }
}

/// The `fleet watch` command: shows the hosts of a fleet as they come, change and go.
struct FleetWatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Show the hosts of a fleet as they come, change and go.",
    discussion: "While the Redis server cannot be reached, the command says so and waits for it.")

  @OptionGroup var options: FleetOptions
  @Option(help: "How many seconds to wait before the fleet is looked at again.") var every = 1.0
  @OptionGroup var duration: TimeLimitOptions

  func validate() throws {
    guard every >= 0.1, every <= 3_600 else {
      throw ValidationError("--every must be 0.1 to 3600 seconds.")
    }
  }

  func run() async throws {
    let output = Output(FleetRows.headings, json: options.json)
    let interval = Duration.seconds(every)
    try await options.run(output: output, for: duration.limit, isWaiting: false) { directory in
      var watch = FleetWatch()
      while true {
        do {
          for report in watch.update(try await directory.status()) { output.emit(report) }
        } catch let error as RedisError
          where !Task.isCancelled && (watch.hasBegun || error.mayPass)
        {
          if let report = watch.lose(error) { output.emit(report) }
        }
        try await Task.sleep(for: interval)
      }
    }
  }
}

/// The `fleet drain` command: tells a host to get no more matches, and to move those that it has.
struct FleetDrainCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "drain",
    abstract: "Let a host get no more matches, and have it move those that it has.")

  /// How many digits of an id are enough if no other host's id begins with them.
  private static let digitLimit = 4

  @Argument(help: "The id of the host, or the first digits of it, at least 4.") var host: String
  @Option(
    help: ArgumentHelp(
      """
      How long the host may look for other hosts for its matches, up to 86400; then it ends \
      without. Default: it goes on with them.
      """, valueName: "seconds"))
  var patience: Double?
  @OptionGroup var options: FleetOptions
  @OptionGroup var duration: TimeLimitOptions

  func validate() throws {
    guard patience.map({ (0...86_400).contains($0) }) ?? true else {
      throw ValidationError("--patience must be 0 to 86400 seconds.")
    }
  }

  func run() async throws {
    let digits = host.lowercased()
    guard Self.digitLimit...32 ~= digits.utf8.count, digits.utf8.allSatisfy(Self.isDigit) else {
      throw CommandFailure(.usage, "HOST must have 4 to 32 hexadecimal digits of a host's id")
    }
    let output = Output(FleetRows.headings, json: options.json, isTable: false)
    try await options.run(output: output, for: duration.answerLimit) { directory in
      let fleet = try await directory.status().hosts
      let hosts = fleet.filter { $0.record.id.description.hasPrefix(digits) }
      guard let host = hosts.first else {
        throw CommandFailure(.unavailable, "the fleet has no host whose id begins with \(digits)")
      }
      guard hosts.count == 1 else {
        throw CommandFailure(.usage, "\(hosts.count) hosts have ids that begin with \(digits)")
      }
      let isThere = try await directory.drain(
        host.record.id, patience: patience.map { .seconds($0) })
      guard isThere else {
        throw CommandFailure(.unavailable, "the host has left the fleet")
      }
      output.emit(FleetRows.report(.updated, host.draining))
      if let line = host.lineAboutMatches(in: fleet) { StandardError.write(line) }
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    switch Unicode.Scalar(byte) {
    case "0"..."9", "a"..."f": true
    default: false
    }
  }
}

extension HostStatus {
  /// What keeps the host, which drains, from moving its matches: no other host of the fleet has
  /// room for any. Nil if one has.
  fileprivate func lineAboutMatches(in fleet: [HostStatus]) -> String? {
    let hasRoom = fleet.contains {
      $0.record.id != record.id && $0.record.game == record.game && !$0.isDraining
        && $0.seatsInUse < $0.record.seats
    }
    guard matches > 0, !hasRoom else { return nil }
    let what = matches == 1 ? "match" : "\(matches) matches"
    return "no other host of the fleet has room for the \(what) of this host: start one"
  }

  /// The host from when it takes no more matches.
  fileprivate var draining: HostStatus {
    HostStatus(record, seatsInUse: seatsInUse, matches: matches, load: load, isDraining: true)
  }
}
