/**
 * One Berth for the whole black-box suite: a process of its own with the demo model, or the one that `BERTH_URL` names
 * (it must be open, or `BERTH_TOKENS` unset, and serve the shipped agents with `scripted/demo`).
 */
import type { TestProject } from "vitest/node";
import { BerthProcess } from "../processes/berth-process.ts";

declare module "vitest" {
  export interface ProvidedContext {
    berthUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const given = process.env.BERTH_URL;
  if (given) {
    project.provide("berthUrl", given.replace(/\/$/, ""));
    return async () => {};
  }
  const berth = await BerthProcess.start();
  project.provide("berthUrl", berth.baseUrl);
  return () => berth.stop();
}
