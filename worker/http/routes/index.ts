/** The routes of the door. What is listed here is served, checked and documented. */
import type { Route } from "../route.ts";
import { abortRoutes } from "./abort.ts";
import { admitRoutes } from "./admit.ts";
import { agentRoutes } from "./agents.ts";
import { attachmentRoutes } from "./attachments.ts";
import { eraseRoutes } from "./erase.ts";
import { healthRoutes } from "./health.ts";
import { promptRoutes } from "./prompt.ts";
import { readRoutes } from "./read.ts";
import { submissionRoutes } from "./submissions.ts";

export const ROUTES: readonly Route[] = [
  ...healthRoutes,
  ...agentRoutes,
  ...readRoutes,
  ...admitRoutes,
  ...abortRoutes,
  ...eraseRoutes,
  ...attachmentRoutes,
  ...submissionRoutes,
  ...promptRoutes,
];
