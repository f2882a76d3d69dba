// Runs the program that imports this in a network namespace of its own, in which there is nothing but the
// loopback interface: a browser that opens data channels would otherwise use every network of the computer.

import { spawnSync } from "node:child_process";

/** Set where the program already runs in its own namespace. */
const MARK = "CAROM_OWN_NETWORK";

/** How a program is put into a namespace: by root, or by others in a namespace of users as well. */
const own = process.getuid() === 0 ? ["--net"] : ["--user", "--map-root-user", "--net"];

const hasOwnNetwork = () => spawnSync("unshare", [...own, "ip", "link", "set", "lo", "up"]).status === 0;

/** Whether tests with browsers are skipped, and why. */
export const skip = process.env[MARK] || hasOwnNetwork() ? false : "there are no network namespaces";

if (!process.env[MARK] && !skip) {
  const program = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  const { status } = spawnSync(
    "unshare", [...own, "sh", "-c", 'ip link set lo up && exec "$0" "$@"', ...program],
    { stdio: "inherit", env: { ...process.env, [MARK]: "1" } });
  process.exit(status ?? 1);
}
