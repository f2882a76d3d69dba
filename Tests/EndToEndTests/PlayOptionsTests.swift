import AirHockey
import ArgumentParser
import CaromCore
import CaromSession
import Foundation
import Testing

@testable import air_hockey

@Suite(.turns) struct PlayOptionsTests {
  @Test(arguments: ["Maya", "Łukasz", "日本", String(repeating: "x", count: 63), "a b"])
  func `a printable name of at most 63 bytes is used unchanged`(name: String) throws {
    #expect(try PlayOptions.checked(name) == name)
  }

  @Test(arguments: ["", "a\nb", "\u{1B}[2J", "\u{200B}", String(repeating: "é", count: 32)])
  func `any other name is an error with its own status`(name: String) {
    let failure = #expect(throws: CommandFailure.self) { try PlayOptions.checked(name) }
    #expect(failure?.status == .badName)
  }

  @Test(arguments: [
    ["solo", "--seconds", "0"], ["solo", "--seconds", "many"], ["solo", "--strength", "wild"],
    ["solo", "surplus"], ["chess"], ["host", "--reconnect", "-1"],
    ["join", "x", "--reconnect", "3601"], ["join", "x", "--conditions", "lunar"],
    ["join", "x", "--conditions", "mobile", "--transport", "tcp"],
    ["host", "--port", "65536"], ["auto", "--port", "-1"],
    ["host", "--players", "3"], ["host", "--players", "0"], ["host", "--players", "2", "--bot"],
    ["host", "--players", "2", "--opponent"], ["host", "--kiosk"],
    ["host", "--browser"], ["host", "--browser", "--code"], ["host", "--page", "."],
    ["host", "--browser", "--security", "none", "--transport", "udp"],
    ["host", "--browser", "--security", "none", "--conditions", "mobile"],
    ["host", "--browser-tls", "cert"], ["host", "--browser-tls", "cert", "key", "more"],
    ["host", "--browser", "--security", "none", "--browser-tls", "cert", "key"],
    ["host", "--browser-tls", "cert", "key", "--transport", "udp"],
    ["host", "--browser-tls", "cert", "key", "--known", "peers"],
    ["host", "--browser-tls", "cert", "key", "--key", "backend"],
    ["host", "--key", "1", "--key", "2", "--key", "3", "--key", "4", "--key", "5"],
    ["join", "x", "--routing-suffix", "a"], ["watch", "x", "--routing-prefix", ""],
    ["join", "x", "--token", "y", "--routing-suffix", "a1"],
    ["host", "--browser", "--security", "none", "--tables", "0"],
    ["host", "--browser", "--security", "none", "--tables", "65"],
    ["join", "x", "--table", "0"], ["watch", "x", "--table", "65"],
    ["join", "x", "--table", "2", "--fleet", "redis://127.0.0.1:1/x", "--key", "backend"],
  ])
  func `an invalid command line is a usage error`(arguments: [String]) {
    let error = #expect(throws: (any Error).self) {
      _ = try AirHockeyCommand.parseAsRoot(arguments)
    }
    #expect(error.map { AirHockeyCommand.exitCode(for: $0) } == .validationFailure)
  }

  @Test(arguments: [["--code"], ["--security", "none"], ["--kiosk", "--page", "."], []])
  func `a page over TLS fits every security that needs no key`(options: [String]) throws {
    let arguments = ["host", "--browser-tls", "cert", "key"] + options
    let command = try AirHockeyCommand.parseAsRoot(arguments) as? HostCommand
    #expect(command?.browserTLS == ["cert", "key"])
  }

  @Test(arguments: [
    ([], "add --browser or --browser-tls CERT KEY"),
    (["--fleet", "redis://127.0.0.1:1/x", "--key", "backend"], "leave --tables out"),
    (["--browser", "--security", "none", "--bot"], "leave --opponent and --bot out"),
    (["--browser", "--security", "none", "--opponent"], "leave --opponent and --bot out"),
    (["--browser", "--security", "none", "--games", "1"], "leave --games, --seconds and"),
    (["--browser", "--security", "none", "--seconds", "1"], "leave --games, --seconds and"),
    (["--browser", "--security", "none", "--record", "x"], "leave --games, --seconds and"),
  ])
  func `what several tables cannot be combined with is a usage error that says what to do`(
    options: [String], advice: String
  ) {
    let error = #expect(throws: (any Error).self) {
      _ = try AirHockeyCommand.parseAsRoot(["host", "--tables", "4"] + options)
    }
    #expect(error.map { AirHockeyCommand.message(for: $0).contains(advice) } == true)
  }

  @Test(arguments: [
    (["--advertise", "10.0.0.1:7777"], "needs --fleet ADDRESS"),
    (["--routing-suffix", "a1"], "need --advertise ADDRESS:PORT"),
    (["--advertise", "10.0.0.1"], "the port of '10.0.0.1' is missing: use 10.0.0.1:PORT"),
    (["--advertise", "10.0.0.1:0"], "must be from 1 to 65535"),
    (["--advertise", "agones:"], "needs the name of a port"),
    (["--advertise", "agones", "--routing-prefix", "a"], "two hexadecimal digits for each byte"),
    (["--advertise", "agones", "--routing-prefix", ""], "give some, or use no routing"),
    (
      ["--advertise", "agones", "--routing-suffix", String(repeating: "a1", count: 33)],
      "at most 32 bytes, not 33"
    ),
    (
      ["--advertise", "agones", "--routing-suffix", "a1", "--routing-prefix", "a1"],
      "cannot be combined"
    ),
    ([String](repeating: "--advertise=x:1", count: 7), "6 times at most"),
  ])
  func `what a table cannot advertise is a usage error that says what to do`(
    options: [String], advice: String
  ) {
    let error = #expect(throws: (any Error).self) {
      _ = try AirHockeyCommand.parseAsRoot(["host"] + options)
    }
    #expect(error.map { AirHockeyCommand.message(for: $0).contains(advice) } == true)
  }

  @Test func `a table of a fleet advertises what it is told`() throws {
    let fleet = ["host", "--fleet", "redis://127.0.0.1:1/x", "--key", "backend"]
    let command =
      try AirHockeyCommand.parseAsRoot(
        fleet + ["--advertise", "agones:game-udp", "--advertise", "play.example:7777"]
          + ["--routing-prefix", "A1ff"]) as? HostCommand
    #expect(try command?.advertised.routing == .prefix([0xA1, 0xFF]))
    #expect(command?.advertised.advertise.count == 2)
    let plain = try AirHockeyCommand.parseAsRoot(fleet) as? HostCommand
    #expect(plain?.advertised.routing == nil)
  }

  @Test func `at several tables two clients play each other, at one this computer plays`() throws {
    let options = ["host", "--browser", "--security", "none"]
    for (tables, clients) in [([], 1), (["--tables", "1"], 1), (["--tables", "64"], 2)] {
      let command = try AirHockeyCommand.parseAsRoot(options + tables) as? HostCommand
      #expect(command?.clients == clients)
    }
  }

  @Test func `a client names its table in its request for a seat`() throws {
    let info = PeerInfo(name: "Leo", application: "airhockey")
    for (options, match) in [([], 0), (["--table", "1"], 1), (["--table", "64"], 64)] {
      let option = try TableOption.parse(options)
      #expect(option.applied(to: info).match == match)
    }
  }

  @Test func `a time in seconds is converted to ticks`() throws {
    let options = try PlayOptions.parse(["--seconds", "60", "--bot", "--strength", "hard"])
    #expect(options.tickLimit == 3600)
    #expect(options.strength == .hard)
    #expect(try PlayOptions.parse([]).tickLimit == nil)
  }

  @Test func `simulated conditions have a name and use datagrams alone`() throws {
    for profile in LinkProfile.all {
      let options = try NetOptions.parse(["--conditions", profile.name])
      #expect(options.conditions == profile && options.kinds == .datagram)
    }
    let options = try NetOptions.parse([])
    #expect(options.conditions == nil && options.kinds == .all)
  }

  @Test func `preferences are saved and loaded, and options take precedence over them`() throws {
    let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).json")
    defer { try? FileManager.default.removeItem(at: file) }
    let place = ["--preferences", file.path]
    let first = try PlayOptions.parse(place + ["--name", "Maya", "--strength", "hard", "--save"])
    #expect(first.name == "Maya")
    let second = try PlayOptions.parse(place)
    #expect(second.name == "Maya" && second.strength == .hard)
    let third = try PlayOptions.parse(place + ["--name", "Leo", "--strength", "easy"])
    #expect(third.name == "Leo" && third.strength == .easy)
    #expect(try Preferences.load(file.path) == Preferences(name: "Maya", strength: "hard"))
    for text in ["", "[]", "{\"name\":1}", "{\"strength\":\"wild\"}"] {
      try Data(text.utf8).write(to: file)
      #expect(throws: (any Error).self) { try PlayOptions.parse(place) }
    }
    #expect(throws: (any Error).self) { try PlayOptions.parse(["--save"]) }
    try FileManager.default.removeItem(at: file)
    let error = #expect(throws: (any Error).self) { try PlayOptions.parse(place) }
    #expect(error.map { PlayOptions.message(for: $0).contains("\(file.path) does not") } == true)
    let nowhere = ["--preferences", file.path + "/x/y", "--save"]
    #expect(throws: (any Error).self) { try PlayOptions.parse(nowhere) }
  }

  @Test(arguments: [
    ("timedOut", "the connection timed out"), ("connectionReset", "the connection was lost"),
    ("connectionLost", "the connection was lost"), ("finished", "finished"),
  ])
  func `the line of a summary says in words why the session ended`(reason: String, words: String) {
    var summary = Summary(role: "host", peer: "Leo")
    summary.endReason = reason
    #expect(summary.line.hasPrefix("0-0 against Leo; \(words); 0 ticks, late by "))
  }

  @Test func `a summary is one flat object on one line, and a missing peer is null`() {
    var summary = Summary(role: "host")
    summary.timing.stateAgeP99 = 1.5
    summary.prediction.gapMost = 7
    #expect(
      summary.json == """
        {"bytesReceived":0,"bytesSent":0,"cipher":null,"correctionMean":0,"correctionMost":0,\
        "deepestRollback":0,"desyncs":0,"endReason":"","fingerprint":null,"frames":0,\
        "games":0,"gapMean":0,"gapMost":7,"lateInputs":0,"matches":0,"peer":null,"role":"host",\
        "rollbacks":0,"score":"0-0","security":"none","stalls":0,"stateAgeP50":0,\
        "stateAgeP99":1.5,"tickJitterMost":0,"tickJitterP50":0,"tickJitterP99":0,"ticks":0,\
        "transport":null}
        """)
  }

  @Test(arguments: [
    ("host", "1-0 against Maya; "), ("local", "1-0 against Maya; "),
    ("client", "0-1 against Maya; "), ("watcher", "Maya 1-0 against the opponent; "),
    ("table", "Maya 1-0 against the opponent; "),
  ])
  func `a summary's line has the player's own goals first, and its JSON those of home`(
    role: String, start: String
  ) {
    var summary = Summary(role: role, peer: "Maya")
    summary.score = Score(home: 1, away: 0)
    #expect(summary.line.hasPrefix(start), "\(summary.line)")
    #expect(summary.json.contains("\"score\":\"1-0\""))
  }
}
