import CaromCore

/// The commands of a fleet's directory as a Redis server gets them.
package enum RedisCommand {
  /// Returns the command that installs the function, or replaces an older one of the same name.
  package static var loadFunction: [UInt8] {
    encode(["FUNCTION", "LOAD", "REPLACE", RedisFunction.library].map { Array($0.utf8) })
  }

  /// Returns the command that asks whether the server has the function. The answer is an array,
  /// which is empty if it has not.
  package static var listFunction: [UInt8] {
    encode(["FUNCTION", "LIST", "LIBRARYNAME", RedisFunction.name].map { Array($0.utf8) })
  }

  /// Returns the command with which a program logs in; nil if the address has no password.
  package static func logIn(to address: FleetAddress) -> [UInt8]? {
    guard let password = address.password else { return nil }
    let user = address.user.map { [Array($0.utf8)] } ?? []
    return encode([Array("AUTH".utf8)] + user + [password.reveal()])
  }

  /// Returns a command to the directory of a fleet, whose name is that of a match.
  package static func encode(_ command: DirectoryCommand, fleet: MatchID) -> [UInt8] {
    encode(arguments(command, fleet: fleet))
  }

  private static func encode(_ arguments: [[UInt8]]) -> [UInt8] {
    RESPValue.array(arguments.map { .bulkString($0) }).encoded
  }

  static func arguments(_ command: DirectoryCommand, fleet: MatchID) -> [[UInt8]] {
    var arguments = RedisArguments()
    // The braces keep all keys of a fleet together where a cluster has several servers.
    arguments.append("FCALL", RedisFunction.name, "1", "carom:{\(fleet)}:")
    switch command {
    case .host(let command, let sender):
      arguments.append(
        "host", sender.host.description, sender.run.description, sender.connection.description)
      arguments.append(command)
    case .drain(let host, let patience):
      arguments.append("drain", host.description)
      if let patience { arguments.append("\(patience.wholeNanoseconds / 1_000_000)") }
    case .place(let request):
      arguments.append(
        "place", request.match.text, request.game.description,
        request.regions.joined(separator: " "), request.key?.description ?? "")
      for player in request.players { arguments.append(player.description) }
    case .locate(let match, let player):
      arguments.append("locate", match.text, player.description)
    case .doors(let host): arguments.append("doors", host.description)
    case .status: arguments.append("status")
    case .match(let match): arguments.append("match", match.text)
    }
    return arguments.list
  }
}

/// The arguments of one command.
private struct RedisArguments {
  private(set) var list: [[UInt8]] = []

  mutating func append(_ texts: String...) { list += texts.map { Array($0.utf8) } }

  private mutating func append(_ claim: MatchClaim) {
    append(claim.match.text, claim.host.description, claim.number.description)
  }

  private mutating func append(_ checkpoint: Checkpoint) {
    append(checkpoint.tick.description)
    list.append(checkpoint.state)
  }

  mutating func append(_ command: HostCommand) {
    switch command {
    case .register(let registration): append(registration)
    case .renew(let load):
      append(
        "renew", load.lateTicks.description, load.processor.description,
        load.isOverloaded ? "1" : "0")
    case .withdraw: append("withdraw")
    case .drain: append("drain")
    case .takeSeat(let claim, let player):
      append("takeSeat")
      append(claim)
      append(player.description)
    case .releaseSeat(let claim, let player):
      append("releaseSeat")
      append(claim)
      append(player.description)
    case .save(let claim, let checkpoint):
      append("save")
      append(claim)
      append(checkpoint)
    case .resume(let claim):
      append("resume")
      append(claim)
    case .move(let claim, let checkpoint):
      append("move")
      append(claim)
      if let checkpoint { append(checkpoint) }
    case .finish(let claim, let result):
      append("finish")
      append(claim)
      list.append(result)
    }
  }

  private mutating func append(_ registration: HostRegistration) {
    let record = registration.record
    append("register", registration.keys.text, registration.isDraining ? "1" : "0")
    list.append(record.encoded)
    append(record.game.description, record.region, record.seats.description)
    for held in registration.holding {
      append(held.claim)
      append(held.players.count.description)
      for player in held.players { append(player.description) }
    }
  }
}
