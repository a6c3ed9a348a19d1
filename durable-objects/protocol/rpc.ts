/**
 * What the door may ask of a conversation. The two meet here and nowhere else.
 *
 * Expected faults come back as values: a class does not survive RPC, and a thrown error would be logged as a crash.
 * Streams and texts are ready bytes: the door adds status and headers and looks no further.
 */
import type { Fault } from "./errors.ts";
import type { DeliveredMessage, TraceContext } from "./submission.ts";

export type Answer<T> = { ok: true; value: T } | { ok: false; error: Fault };

export interface Admission {
  agent: string;
  id: string;
  message: DeliveredMessage;
  trace?: TraceContext;
  /** Verified subject of the caller's token. */
  subject?: string;
}

/** What a caller gets once its message is durable. The door adds `streamUrl`. */
export interface Receipt {
  offset: string;
  submissionId: string;
  uid: string;
}

export type LiveMode = "none" | "long-poll" | "sse";

export interface UpdatesQuery {
  /** Exclusive: what was recorded after this record number. */
  after: number;
  live: LiveMode;
}

/** A body and the stream headers that go with it. `offset` and `upToDate` are absent on SSE. */
export interface ReadAnswer {
  body: string | ReadableStream<Uint8Array>;
  contentType: string;
  offset?: string;
  upToDate?: boolean;
}

export interface HeadAnswer {
  offset: string;
}

export interface ConversationRpc {
  admit(admission: Admission): Promise<Answer<Receipt>>;
  readHistory(): Promise<Answer<ReadAnswer>>;
  readUpdates(query: UpdatesQuery): Promise<Answer<ReadAnswer>>;
  readHead(): Promise<Answer<HeadAnswer>>;
  abort(): Promise<Answer<{ aborted: boolean }>>;
}
