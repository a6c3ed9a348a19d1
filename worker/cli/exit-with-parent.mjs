/**
 * Loaded into wrangler with `--import`: ends it when the process that started it is gone, so that a start script that
 * was killed leaves no server behind. The timer keeps nothing alive.
 */
const CHECK_MS = 1000;
const parent = process.ppid;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
}, CHECK_MS).unref();
