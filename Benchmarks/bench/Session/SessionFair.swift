/// Bulk traffic that shares a path with a flow of TCP CUBIC: measures the share of each.
struct SessionFair: Sendable {
  let subject: SessionSubject
  /// Whether the subject starts before CUBIC.
  let isFirst: Bool

  static let rival = SessionSubject.tcp("cubic")
  private static let ports = (7_777, 7_778)
  /// The seconds between the two starts, and the seconds from the second start to the measurement.
  private static let between = 2
  private static let warm = 5
  private static let seconds = 30

  /// Returns the goodput of the subject (`ours`) and of CUBIC (`theirs`) in Mbit/s, with the path's
  /// figures.
  func run() async throws -> SessionFigures {
    try await SessionPath.with(.init(loss: 0)) { path in
      let first = isFirst ? subject : Self.rival
      let second = isFirst ? Self.rival : subject
      let early = try await begin(first, Self.ports.0, warm: Self.warm + Self.between, path)
      try await Task.sleep(for: .seconds(Self.between))
      let late = try await begin(second, Self.ports.1, warm: Self.warm, path)
      try await Task.sleep(for: .seconds(Self.warm))
      try await path.reset()
      let limit = Duration.seconds(Self.seconds + 20)
      let rates = [
        try await early.receiver.figures(within: limit)["goodput"],
        try await late.receiver.figures(within: limit)["goodput"],
      ]
      var figures = try await path.counters()
      (figures["ours"], figures["theirs"]) = isFirst ? (rates[0], rates[1]) : (rates[1], rates[0])
      for side in [early.sender, late.sender, early.receiver, late.receiver] { await side.end() }
      return figures
    }
  }

  private func begin(
    _ subject: SessionSubject, _ port: Int, warm: Int, _ path: SessionPath
  ) async throws -> (receiver: SessionSide, sender: SessionSide) {
    let receiver = try path.start(
      subject, .receive, in: "h2", ["port=\(port)", "warm=\(warm)", "seconds=\(Self.seconds)"])
    try await receiver.ready()
    let sender = try path.start(
      subject, .send, in: "h1",
      ["port=\(port)", "address=\(SessionPath.address)", "what=bulk"])
    try await sender.ready()
    return (receiver, sender)
  }
}
