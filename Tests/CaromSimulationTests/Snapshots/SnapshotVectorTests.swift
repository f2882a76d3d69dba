import CaromCore
import CaromSimulation
import Testing

/// The exact bytes of some snapshots, the same in every build and on every machine.
@Suite struct SnapshotVectorTests {
  private static let schema = EntitySchema(
    .position(-8...8, step: 0.01), .position(-8...8, step: 0.01), .angle(bits: 8),
    .integer(0...100), .flag)

  private func makeTable(_ tick: Int64) -> EntityTable {
    var table = EntityTable(schema: Self.schema)
    for id in Int64(0)..<5 where id != 3 || tick > 4 {
      let x = (tick * (id * 7 - 9)) % 800
      let values = [x, 100 - tick * id, (250 + tick * 3) & 255, 100 - tick / 4 * id, tick / 5 & 1]
      table.append(UInt32(id * id), values)
    }
    return table
  }

  private func makeSnapshots() -> [String] {
    var sender = SnapshotSender(schema: Self.schema)
    return (Int64(1)...9).map { tick in
      let bytes = sender.encode(makeTable(tick), at: Tick(UInt64(tick)))
      if tick > 3 { sender.acknowledge(Tick(UInt64(tick - 3))) }
      return bytes.map { byte in
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
      }.joined()
    }
  }

  @Test func `snapshots have the documented bytes`() {
    #expect(
      makeSnapshots() == [
        "7eb66a52938f15b5b3fdcd05c4fd2a7f12708523f74736985fb505",
        "7ec0be1704e3463fdc3cb9b8d820be6b1ed8cb36d939456ec4cad4",
        "7ec4cc55d4e3463fd955a50fce5129be126db102bb668a26e90680",
        "7ec76146f137f84f5ba866a9b01c37a2d07b4107df9e26ce6f8158",
        "01f958d1c40ef032083ea8771f22bb71376963299af90ef95134b637",
        "02f67509ea0ef032083ea8771f22bb71376963f175397ce81a34b637",
        "03f39142100ef032083ea8771f22bb71376964b94f79ead6e334b637",
        "04f0ad7a360ef032083ea8771f22bb713769658129ba4c47a4a2b637",
        "04f2c6efa79e63c17e188c0921e43709",
      ])
  }

  @Test func `different schemas have different fingerprints`() {
    #expect(Self.schema.fingerprint == 0x920B_F9D9_4DC0_9EE4)
    #expect(EntitySchema(.flag).fingerprint != EntitySchema(.integer(0...2)).fingerprint)
  }
}
