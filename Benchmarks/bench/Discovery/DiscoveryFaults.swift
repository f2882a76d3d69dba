/// What networks do to services: names that are taken, cables, crashes, floods. Our own side.
struct DiscoveryFaults: Sendable {
  let stack: DiscoveryLab.Stack

  private typealias Subject = DiscoveryCaromSubject

  private func prepare(_ lab: DiscoveryLab, _ hosts: String...) async throws -> [Subject] {
    var subjects: [Subject] = []
    for host in hosts {
      subjects.append(Subject(in: lab, host: host))
      try await subjects[subjects.count - 1].prepare()
    }
    return subjects
  }

  private func established(_ subject: Subject, _ name: String) async throws -> Double {
    let line = await (try subject.program).line { $0.hasSuffix(" established \(name)") }
    guard let time = line?.text.split(separator: " ").first.flatMap({ Double($0) }) else {
      throw DiscoveryFailure("'\(name)' was not established")
    }
    return time
  }

  /// From publishing under a name that is unique by construction to resolved.
  func unique() async throws -> [Double] {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      let sighting = try await subjects[1].browse()
      // Past the queries at 0, 1 and 3 s.
      try await Task.sleep(for: .milliseconds(3_500))
      var times: [Double] = []
      for number in 1...5 {
        let name = "Table \(number)"
        let begin = try await subjects[0].ask("unique\t\(name)\t\(DiscoveryPair.type)", "publish")
        times.append(await sighting.time(of: .resolved, name, since: begin))
        try await Task.sleep(for: .milliseconds(100))
      }
      return times
    }
  }

  /// From the second publishing of a name to the other name's.
  func conflict() async throws -> Double {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("X")
      _ = try await established(subjects[0], "X")
      try await Task.sleep(for: .seconds(2))
      let begin = try await subjects[1].publish("X")
      return try await established(subjects[1], "X (2)") - begin
    }
  }

  /// From the first packet that crosses two joined segments to a rename. A third host asks: those
  /// who know the name from their own segment have nothing to ask.
  func split() async throws -> Double {
    try await DiscoveryLab.with(hosts: 3, stack) { lab in
      try await lab.change("attach", "h2", "1")
      try await lab.change("detach", "h2", "0")
      let subjects = try await prepare(lab, "h1", "h2", "h3")
      for subject in subjects.prefix(2) {
        _ = try await subject.publish("X")
        _ = try await established(subject, "X")
      }
      try await Task.sleep(for: .seconds(2))
      let capture = try await lab.capture(bridge: 1)
      let joined = try await lab.change("join", "0", "1")
      _ = try await subjects[2].browse()
      let renamed = await earliestLine(of: subjects, " renamed X (2)")
      guard let renamed,
        let crossing = await capture.frame(
          from: joined, within: .seconds(5), where: { $0.host != 2 })
      else { return .nan }
      return renamed - crossing.time
    }
  }

  private func earliestLine(of subjects: [Subject], _ end: String) async -> Double? {
    await withTaskGroup(of: Double?.self) { group in
      for subject in subjects {
        group.addTask {
          let line = await (try? subject.program)?.line { $0.hasSuffix(end) }
          return line?.text.split(separator: " ").first.flatMap { Double($0) }
        }
      }
      for await time in group {
        if let time { return time }
      }
      return nil
    }
  }

  /// From the user's doubt to the end of a service whose program was killed.
  func crash() async throws -> Double {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Refusal")
      let sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Refusal") != nil else { return .nan }
      try subjects[0].program.say("crash")
      try await Task.sleep(for: .seconds(1))
      let begin = try await subjects[1].ask("reconfirm\tGone", "reconfirm")
      return await sighting.time(of: .removed, "Refusal", since: begin, within: .seconds(20))
    }
  }

  /// Whether a service that is taken back and published again at once stays with the browsers: 0,
  /// or 1 where they were told that it went.
  func again() async throws -> Double {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Back")
      let sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Back") != nil else { return .nan }
      try await Task.sleep(for: .seconds(2))
      _ = try await subjects[0].withdraw()
      _ = try await subjects[0].publish("Back")
      let removed = await sighting.time(of: .removed, "Back", within: .seconds(3))
      return removed == nil ? 0 : 1
    }
  }
}

// MARK: - The network changes

extension DiscoveryFaults {
  /// From what the publisher's host was told of a change to its next announcement.
  struct Changes: Sendable {
    var cable: Double
    var address: Double
    var interface: Double
  }

  /// The network of the publisher's host changes in several ways.
  func changes() async throws -> Changes {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Moved")
      _ = try await established(subjects[0], "Moved")
      try await lab.change("attach", "h2", "1")
      let capture = try await lab.capture()
      let other = try await lab.capture(bridge: 1)
      let monitor = try lab.startUntilInputEnds(
        "h1", ["stdbuf", "-oL", "ip", "-o", "monitor", "link", "address"])
      try await Task.sleep(for: .seconds(2))
      try await lab.change("cut", "h1")
      try await Task.sleep(for: .milliseconds(500))
      var first = monitor.count
      try await lab.change("heal", "h1")
      let cable = await announcement(in: capture, after: monitor, first, "LOWER_UP")
      try await Task.sleep(for: .milliseconds(1_500))
      first = monitor.count
      _ = try lab.start("h1", ["ip", "addr", "add", "10.77.0.201/24", "dev", "eth0"])
      let address = await announcement(in: capture, after: monitor, first, "10.77.0.201")
      first = monitor.count
      try await lab.change("attach", "h1", "1")
      let interface = await announcement(in: other, after: monitor, first, "10.77.1.1")
      return Changes(cable: cable, address: address, interface: interface)
    }
  }

  private func announcement(
    in capture: DiscoveryCapture, after monitor: DiscoveryProgram, _ first: Int, _ sign: String
  ) async -> Double {
    guard let event = await monitor.line(from: first, where: { $0.contains(sign) }) else {
      return .nan
    }
    let frame = await capture.frame(from: event.time, within: .seconds(5)) {
      $0.host == 1 && $0.kind == .response && $0.isMulticast && $0.answers >= 3
    }
    return frame.map { $0.time - event.time } ?? .nan
  }

  /// Cable of the browser's host: from out to "removed", and from in to "resolved".
  func browserCable() async throws -> (out: Double, back: Double) {
    try await DiscoveryLab.with(hosts: 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      _ = try await subjects[0].publish("Far")
      var sighting = try await subjects[1].browse()
      guard await sighting.time(of: .resolved, "Far") != nil else { return (.nan, .nan) }
      try await Task.sleep(for: .seconds(2))
      let cut = try await lab.change("cut", "h2")
      let out = await sighting.time(of: .removed, "Far", since: cut)
      sighting.first = sighting.program.count
      let healed = try await lab.change("heal", "h2")
      return (out, await sighting.time(of: .resolved, "Far", since: healed))
    }
  }

  /// What 60,000 records leave of an active browsing.
  struct Flooded: Sendable {
    var browser: String
    /// From publishing to found, after the flood.
    var found = Double.nan
    /// Kilobytes that the browser grew by; `nan` where that cannot be told.
    var growth = Double.nan
  }

  /// Junk, or services of the browsed type that do not exist.
  func flood(
    _ count: Int, fakes: Bool, browsers: [any DiscoverySubject.Type]
  ) async throws -> [Flooded] {
    try await DiscoveryLab.with(hosts: browsers.count + 2, stack) { lab in
      let subjects = try await prepare(lab, "h1", "h2")
      var sightings: [(any DiscoverySubject, DiscoverySighting)] = []
      for (index, browser) in browsers.enumerated() {
        let subject = browser.init(in: lab, host: "h\(index + 3)")
        try await subject.prepare()
        if let carom = subject as? DiscoveryCaromSubject {
          sightings.append((subject, try await carom.watch()))
        } else {
          sightings.append((subject, try await subject.browse()))
        }
      }
      try await Task.sleep(for: .seconds(2))
      let before = try await usage(of: sightings.map(\.0))
      let words = "flood\t\(count)" + (fakes ? "\t\(DiscoveryPair.type)" : "")
      _ = try await subjects[1].ask(words, "flooded", within: .seconds(60))
      let begin = try await subjects[0].publish("Fresh")
      var outcomes: [Flooded] = []
      for (index, (_, sighting)) in sightings.enumerated() {
        let found = await sighting.time(of: .found, "Fresh", since: begin, within: .seconds(5))
        outcomes.append(Flooded(browser: browsers[index].name, found: found))
      }
      let after = try await usage(of: sightings.map(\.0))
      for index in outcomes.indices { outcomes[index].growth = after[index] - before[index] }
      return outcomes
    }
  }

  private func usage(of subjects: [any DiscoverySubject]) async throws -> [Double] {
    var values: [Double] = []
    for subject in subjects {
      values.append(try await (subject as? DiscoveryCaromSubject)?.usage().kilobytes ?? .nan)
    }
    return values
  }
}
