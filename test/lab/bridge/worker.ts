/**
 * The verbs of `container()` over HTTP, so that suites which run in Node can use the driver where it works: in an object
 * beside the container's. One `Bridge` stands for one conversation.
 *
 * A body is `{ verb, args }`; bytes travel as `{ base64 }`. The answer is `{ value }` or `{ error }`.
 */
import { DurableObject } from "cloudflare:workers";
import { ContainerSandbox as ProductSandbox } from "../../../containers/container-object.ts";
import type { ContainerNamespace } from "../../../containers/container-rpc.ts";
import { container } from "../../../containers/drivers/container.ts";
import type { ExecOptions, Sandbox } from "../../../containers/sandbox.ts";
import { deriveSandboxId } from "../../../containers/sandbox-id.ts";
import { type BridgeCall, decodeValue, encodeError, encodeValue } from "./bridge-value.ts";

/** The product's object, and what a test does to a container from outside. */
export class ContainerSandbox extends ProductSandbox {
  async destroyContainer(): Promise<void> {
    await this.ctx.container?.destroy();
  }

  async isRunning(): Promise<boolean> {
    return this.ctx.container?.running ?? false;
  }
}

interface Bindings {
  BRIDGE: DurableObjectNamespace<Bridge>;
  CONTAINERS: DurableObjectNamespace<ContainerSandbox>;
}

export class Bridge extends DurableObject<Bindings> {
  readonly #opened = new Map<string, Promise<Sandbox>>();
  readonly #calls = new Map<string, AbortController>();

  override async fetch(request: Request): Promise<Response> {
    const call = decodeValue(await request.json()) as BridgeCall;
    try {
      return Response.json({ value: encodeValue(await this.#answer(call)) });
    } catch (error) {
      return Response.json({ error: encodeError(error) });
    }
  }

  async #answer({ sandbox: name, verb, args, cwd, sleepAfterMs, callId }: BridgeCall): Promise<unknown> {
    const stub = this.env.CONTAINERS.getByName(deriveSandboxId(name, ""));
    if (verb === "destroyContainer") return stub.destroyContainer();
    if (verb === "isRunning") return stub.isRunning();
    if (verb === "runProgram") return stub.run(args[0] as string[], args[1] as Parameters<typeof stub.run>[1]);
    if (verb === "abort") return this.#calls.get(String(args[0]))?.abort();
    const sandbox = await this.#open(name, cwd, sleepAfterMs);
    if (verb !== "exec") {
      const run = sandbox[verb as "readFile"] as (...all: unknown[]) => unknown;
      return run.apply(sandbox, args);
    }
    const aborter = new AbortController();
    if (callId !== undefined) this.#calls.set(callId, aborter);
    try {
      const [command, options] = args as [string, ExecOptions | undefined];
      return await sandbox.exec(command, { ...options, signal: aborter.signal });
    } finally {
      if (callId !== undefined) this.#calls.delete(callId);
    }
  }

  #open(name: string, cwd: string, sleepAfterMs: number | undefined): Promise<Sandbox> {
    const key = `${name} ${cwd}`;
    const known = this.#opened.get(key);
    if (known) return known;
    // The stub is `ContainerRpc`; its own type adds disposers that nothing here needs.
    const containers = this.env.CONTAINERS as unknown as ContainerNamespace;
    const options = { cwd, ...(sleepAfterMs !== undefined && { sleepAfterMs }) };
    const host = { files: undefined as never, containers, workspace: { objectName: name, uid: "" } };
    const opened = container(options).createSandbox({ id: name, host });
    this.#opened.set(key, opened);
    return opened;
  }
}

export default {
  async fetch(request: Request, env: Bindings): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/health") return new Response("ok");
    return env.BRIDGE.getByName(pathname.slice(1)).fetch(request);
  },
} satisfies ExportedHandler<Bindings>;
