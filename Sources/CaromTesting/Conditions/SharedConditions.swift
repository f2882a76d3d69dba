/// Conditions that many links hold, once in memory.
final class SharedConditions: Sendable {
  let value: LinkConditions

  init(_ value: LinkConditions) { self.value = value }
}
