import CUVLoop

extension NetworkLoop {
  /// How long this computer has slept since it was started, which `now` does not count; zero
  /// where the system does not say.
  public static var timeAsleep: Duration { .nanoseconds(cuv_asleep()) }
}
