/**
 * The suites as vitest projects. `npm test` runs them in the order of `groupOrder`, one group after the other: the later
 * ones start real servers, and two cores serve one suite at a time best.
 *
 * unit, contract      Node, no server
 * sim                 Node, the engine in simulated time with crashes
 * architecture        Node, reads the sources
 * runtime             inside workerd
 * conformance, e2e    Node, against real `npm start` processes
 * lab, lab-berth      Node, against real containers; only when they are named, inside ../shared/container-lab
 */
import { defineConfig } from "vitest/config";
import { workersPool } from "./test/runtime/workers-pool.ts";

const PROCESS_TEST_MS = 60_000;
/** A machine that does other things too is slow, not wrong. */
const UNIT_TEST_MS = 30_000;
const LAB_TEST_MS = 120_000;
const POLL_MS = 20_000;

/** For suites whose files each start real processes. */
const oneByOne = (timeoutMs: number) => ({
  fileParallelism: false,
  maxWorkers: 1,
  testTimeout: timeoutMs,
  hookTimeout: timeoutMs,
  expect: { poll: { interval: 25, timeout: POLL_MS } },
});

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["test/unit/**/*.test.ts", "test/model-server/**/*.test.ts"],
          testTimeout: UNIT_TEST_MS,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: "contract",
          include: ["test/contract/**/*.test.ts"],
          // Real shells and their processes.
          testTimeout: PROCESS_TEST_MS,
          sequence: { groupOrder: 0 },
        },
      },
      { test: { name: "sim", include: ["test/sim/**/*.test.ts"], sequence: { groupOrder: 0 } } },
      { test: { name: "architecture", include: ["test/architecture/**/*.test.ts"], sequence: { groupOrder: 0 } } },
      {
        // An open development door: the tests call without tokens. Containers are off in the pool.
        plugins: [workersPool({ variables: { BERTH_DEV_OPEN: "1", SANDBOX: "virtual" } })],
        test: {
          name: "runtime",
          include: ["test/runtime/**/*.test.ts"],
          testTimeout: UNIT_TEST_MS,
          sequence: { groupOrder: 1 },
          maxWorkers: 1,
          // Transforming these at import takes seconds in every file; bundled once they are quick.
          deps: { optimizer: { ssr: { enabled: true, include: ["openai", "@anthropic-ai/sdk"] } } },
        },
      },
      {
        test: {
          name: "conformance",
          include: ["test/conformance/**/*.test.ts"],
          globalSetup: "test/conformance/berth-under-test.ts",
          sequence: { groupOrder: 2 },
          testTimeout: PROCESS_TEST_MS,
        },
      },
      {
        test: {
          name: "e2e",
          include: ["test/e2e/**/*.test.ts"],
          sequence: { groupOrder: 3 },
          ...oneByOne(PROCESS_TEST_MS),
        },
      },
      {
        test: {
          name: "lab",
          include: ["test/lab/container.test.ts", "test/contract/{tools,search-rows,*-cases}.test.ts"],
          globalSetup: "test/lab/start-bridge.ts",
          sequence: { groupOrder: 4 },
          ...oneByOne(LAB_TEST_MS),
        },
      },
      {
        // Last: the development server takes the images of its kind away when it ends, the bridge's too.
        test: {
          name: "lab-berth",
          include: ["test/lab/berth.test.ts"],
          sequence: { groupOrder: 5 },
          ...oneByOne(LAB_TEST_MS),
        },
      },
    ],
  },
});
