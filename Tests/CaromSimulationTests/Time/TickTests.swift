import CaromSimulation
import Testing

@Suite struct TickTests {
  @Test func `a tick has the number that it was made from`() {
    let count = 7
    #expect(Tick(count) == Tick(7 as UInt64))
    #expect(Tick(count).rawValue == 7)
  }

  @Test func `a tick cannot be negative`() async {
    await #expect(processExitsWith: .failure) {
      let number = -1
      _ = Tick(number)
    }
  }
}
