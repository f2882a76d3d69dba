/// The error of a run whose server did not serve all of its matches.
struct FramesOverload: Error, CustomStringConvertible {
  /// The number of matches that the run asked for.
  let wanted: Int

  /// The number of clients that joined and stayed connected.
  let joined: Int

  var description: String {
    "this machine could not serve \(wanted) matches: \(joined) clients joined and stayed, "
      + "and the others timed out; run again with a smaller number, as in --matches \(advice)"
  }

  private var advice: Int { max(1, min(joined, wanted - 1) * 3 / 4) }
}
