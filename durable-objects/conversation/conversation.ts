/**
 * The conversation's Durable Object: builds the engine over its own storage and forwards calls. No logic of its own.
 *
 * Expected faults leave as values (protocol/rpc.ts); anything else is thrown and logged by the door.
 */
import { DurableObject } from "cloudflare:workers";
import type { SandboxHost } from "../../containers/sandbox.ts";
import type { AgentRegistry } from "../agent/registry.ts";
import { renderAgent } from "../agent/render-agent.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { systemClock, systemTimers } from "../protocol/clock.ts";
import { BerthError, faultOf } from "../protocol/errors.ts";
import { systemIds } from "../protocol/ids.ts";
import type {
  Admission,
  Answer,
  ConversationRpc,
  HeadAnswer,
  ReadAnswer,
  Receipt,
  UpdatesQuery,
} from "../protocol/rpc.ts";
import type { Settings } from "../protocol/settings.ts";
import { createEngine, type Engine } from "./engine.ts";
import { durableDatabase } from "./store/database.ts";
import { createFileStore } from "./store/files.ts";
import { migrate, readSchemaVersion } from "./store/migrations.ts";
import { mountSandbox } from "./turn/mount-sandbox.ts";
import { runAttempt } from "./turn/run-attempt.ts";

export interface ConversationOptions {
  agents: AgentRegistry;
  settings(): Settings;
  /** What the deployment's bindings offer to sandboxes. */
  lend(): Omit<SandboxHost, "files">;
}

async function answer<T>(work: () => T | Promise<T>): Promise<Answer<T>> {
  try {
    return { ok: true, value: await work() };
  } catch (error) {
    if (error instanceof BerthError) return { ok: false, error: faultOf(error) };
    throw error;
  }
}

/** The class to export from the Worker, for the given agents. */
export function conversationClass(options: ConversationOptions) {
  return class extends DurableObject implements ConversationRpc {
    readonly #engine: Engine;

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env);
      const settings = options.settings();
      const db = durableDatabase(ctx.storage);
      this.#engine = createEngine({
        db,
        alarm: {
          set: (at) => void ctx.storage.setAlarm(at),
          clear: () => void ctx.storage.deleteAlarm(),
        },
        clock: systemClock,
        timers: systemTimers,
        ids: systemIds,
        random: Math.random,
        sandboxKind: settings.sandbox,
        sandboxHost: {
          files: createFileStore(db),
          ...(settings.local && { local: settings.local }),
          ...options.lend(),
        },
        render(instance) {
          const agent = options.agents.get(instance.agent);
          if (!agent) throw new BerthError("operation_failed", `The agent "${instance.agent}" is no longer deployed.`);
          return mountSandbox(renderAgent(agent, { id: instance.id, settings }), settings.sandbox);
        },
        resolveModel: (spec) => resolveModel(spec, settings),
        runAttempt,
        report: (event, fields) => console.log(JSON.stringify({ event, ...fields })),
      });
      if (readSchemaVersion(db) > 0) {
        migrate(db);
        // Whatever woke the object: what a crash interrupted goes on now, not at the next alarm.
        this.#engine.supervisor.pass();
      }
    }

    admit(admission: Admission): Promise<Answer<Receipt>> {
      return answer(() => this.#engine.admit(admission));
    }

    readHistory(): Promise<Answer<ReadAnswer>> {
      return answer(() => this.#engine.stream.readHistory());
    }

    readUpdates(query: UpdatesQuery): Promise<Answer<ReadAnswer>> {
      return answer(() => this.#engine.stream.readUpdates(query));
    }

    readHead(): Promise<Answer<HeadAnswer>> {
      return answer(() => this.#engine.stream.readHead());
    }

    abort(): Promise<Answer<{ aborted: boolean }>> {
      return answer(() => {
        this.#engine.stream.readHead();
        return { aborted: this.#engine.abort() };
      });
    }

    override alarm(): void {
      this.#engine.supervisor.pass();
    }
  };
}
