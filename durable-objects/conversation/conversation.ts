/**
 * The conversation's Durable Object: builds the engine over its own storage and forwards calls. No logic of its own.
 *
 * Expected faults leave as values (protocol/rpc.ts); anything else is thrown and logged by the door.
 */
import { DurableObject } from "cloudflare:workers";
import type { SandboxHost } from "../../containers/sandbox.ts";
import { findInitialDataFault } from "../agent/initial-data.ts";
import type { AgentRegistry } from "../agent/registry.ts";
import { renderAgent } from "../agent/render-agent.ts";
import { resolveModel } from "../models/resolve-model.ts";
import { systemClock, systemTimers } from "../protocol/clock.ts";
import { BerthError, faultOf } from "../protocol/errors.ts";
import { systemIds } from "../protocol/ids.ts";
import type {
  Admission,
  Answer,
  AttachmentAnswer,
  ConversationRpc,
  HeadAnswer,
  HistoryPageQuery,
  PromptView,
  QueueView,
  ReadAnswer,
  Receipt,
  SubmissionView,
  UpdatesQuery,
} from "../protocol/rpc.ts";
import type { Settings } from "../protocol/settings.ts";
import { textStream } from "./byte-source.ts";
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

/** What the door encoded: checked there, so only decoded here. */
function decodeAdmission(bytes: Uint8Array): Admission {
  return JSON.parse(new TextDecoder().decode(bytes)) as Admission;
}

/** The class to export from the Worker, for the given agents. */
export function conversationClass(options: ConversationOptions) {
  return class extends DurableObject implements ConversationRpc {
    #engine: Engine;

    constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
      super(ctx, env);
      this.#engine = this.#build();
      const db = durableDatabase(ctx.storage);
      if (readSchemaVersion(db) > 0) {
        migrate(db);
        // Whatever woke the object: what a crash interrupted goes on now, not at the next alarm.
        this.#engine.supervisor.pass();
      }
    }

    #build(): Engine {
      const { storage } = this.ctx;
      const settings = options.settings();
      const db = durableDatabase(storage);
      return createEngine({
        db,
        alarm: {
          set: (at) => void storage.setAlarm(at),
          clear: () => void storage.deleteAlarm(),
        },
        clock: systemClock,
        timers: systemTimers,
        ids: systemIds,
        random: Math.random,
        sandboxKind: settings.sandbox,
        createSandboxHost: (database) => ({
          files: createFileStore(database),
          ...(settings.local && { local: settings.local }),
          ...options.lend(),
        }),
        findInitialDataFault: (agent, data) => findInitialDataFault(options.agents.get(agent), data),
        render(instance) {
          const agent = options.agents.get(instance.agent);
          if (!agent) throw new BerthError("operation_failed", `The agent "${instance.agent}" is no longer deployed.`);
          return mountSandbox(renderAgent(agent, { id: instance.id, settings }), settings.sandbox);
        },
        resolveModel: (spec) => resolveModel(spec, settings),
        runAttempt,
        report: (event, fields) => console.log(JSON.stringify({ event, ...fields })),
      });
    }

    admit(admission: Admission | Uint8Array): Promise<Answer<Receipt>> {
      return answer(() => this.#engine.admit(admission instanceof Uint8Array ? decodeAdmission(admission) : admission));
    }

    waitSettled(submissionId: string, ms: number): Promise<Answer<string | ReadableStream<Uint8Array> | null>> {
      return answer(async () => {
        const settled = await this.#engine.waitSettled(submissionId, ms);
        return settled ? textStream(JSON.stringify(settled)) : null;
      });
    }

    readHistory(page?: HistoryPageQuery): Promise<Answer<ReadAnswer>> {
      const { stream } = this.#engine;
      return answer(() => (page ? stream.readHistoryPage(page) : stream.readHistory()));
    }

    readUpdates(query: UpdatesQuery): Promise<Answer<ReadAnswer>> {
      return answer(() => this.#engine.stream.readUpdates(query));
    }

    readHead(): Promise<Answer<HeadAnswer>> {
      return answer(() => this.#engine.stream.readHead());
    }

    readAttachment(attachmentId: string): Promise<Answer<AttachmentAnswer>> {
      return this.#inConversation((engine) => engine.readAttachment(attachmentId));
    }

    readSubmission(submissionId: string): Promise<Answer<SubmissionView>> {
      return this.#inConversation((engine) => engine.readSubmission(submissionId));
    }

    readQueue(): Promise<Answer<QueueView>> {
      return this.#inConversation((engine) => engine.readQueue());
    }

    readPrompt(epoch?: number): Promise<Answer<PromptView | null>> {
      return this.#inConversation((engine) => engine.readPrompt(epoch) ?? null);
    }

    abort(submissionId?: string): Promise<Answer<{ aborted: boolean }>> {
      return this.#inConversation((engine) => ({ aborted: engine.abort(submissionId) }));
    }

    erase(): Promise<Answer<null>> {
      return this.#inConversation(async (engine) => {
        engine.close();
        await this.ctx.storage.deleteAlarm();
        await this.ctx.storage.deleteAll();
        this.#engine = this.#build();
        return null;
      });
    }

    override alarm(): void {
      this.#engine.supervisor.pass();
    }

    /** For what only a conversation that was contacted can be asked. */
    #inConversation<T>(work: (engine: Engine) => T | Promise<T>): Promise<Answer<T>> {
      return answer(() => {
        this.#engine.stream.readHead();
        return work(this.#engine);
      });
    }
  };
}
