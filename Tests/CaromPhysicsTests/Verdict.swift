import CaromPhysics

/// Collects the failures of a reference case.
struct Verdict {
  var tolerance: Double
  private(set) var failures: [String] = []

  init(tolerance: Double) { self.tolerance = tolerance }

  mutating func fail(_ text: String) { failures.append(text) }

  mutating func require(_ condition: Bool, _ text: @autoclosure () -> String) {
    if !condition { failures.append(text()) }
  }

  /// Compares a number with its expectation, if there is one. An expectation of null requires nil.
  mutating func check(_ name: String, _ actual: Double?, in expect: JSON, key: String? = nil) {
    let key = key ?? name
    guard expect.has(key) else { return }
    guard let expected = expect[key].double else {
      require(actual == nil, "\(name) is \(actual ?? .nan), expected none")
      return
    }
    near(name, actual ?? .nan, expected)
  }

  mutating func check(_ name: String, _ actual: Vector?, in expect: JSON, key: String? = nil) {
    guard let expected = expect[key ?? name].vector else { return }
    near("\(name).x", actual?.x ?? .nan, expected.x)
    near("\(name).y", actual?.y ?? .nan, expected.y)
  }

  mutating func near(_ name: String, _ actual: Double, _ expected: Double) {
    // The comparison is false, and the check fails, if either number is NaN.
    require(
      (actual - expected).magnitude <= tolerance,
      "\(name) is \(actual), expected \(expected), off by \(actual - expected)")
  }
}
