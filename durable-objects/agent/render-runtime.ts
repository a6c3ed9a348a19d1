/**
 * What the engine gives a render: what hooks read, and where the functions they return write.
 *
 * A bare render (a test, a tool that only wants the instructions) has none: reading gives defaults, writing throws.
 *
 * Source: contract RUNTIME 4.
 */
import type { DeliveredMessage } from "../protocol/submission.ts";

/** What a dispatch gives once the message is durable. */
export interface DispatchReceipt {
  submissionId: string;
  /** ISO 8601. */
  acceptedAt: string;
  uid: string;
}

/** A value that was written once; `undefined` cannot be one. */
export interface StoredValue {
  value: unknown;
}

export interface RenderRuntime {
  /** What the conversation was created with. */
  initialData: unknown;
  /** The message in front of the model; in a delegate's render the task it was given. */
  readDelivery(): DeliveredMessage;
  /** The durable value of this moment, a copy of the caller's own. */
  readState(name: string): StoredValue | undefined;
  /** Whether the caller runs inside a tool call or an event hook callback that has not ended. The writes below need it. */
  canWrite(): boolean;
  /** `update` is called at once, with the value as the writes so far leave it; it gives plain JSON. */
  writeState(name: string, update: (previous: StoredValue | undefined) => unknown): void;
  /** Durable and on its way to readers when it returns. */
  writeData(name: string, data: unknown): void;
  /** Admits a message to this very conversation. */
  dispatch(message: DeliveredMessage): Promise<DispatchReceipt>;
}
