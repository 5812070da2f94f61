/** Loaded into the gateway before its program. Reports memory to the parent when it asks. */

/** Memory of a process in bytes. */
export interface MemoryReport {
  /** As it is, with whatever garbage there is. */
  readonly resident: number;
  readonly residentAfterGc: number;
  readonly heapAfterGc: number;
}

process.on('message', () => {
  const resident = process.memoryUsage.rss();
  globalThis.gc?.();
  const { rss: residentAfterGc, heapUsed: heapAfterGc } = process.memoryUsage();
  process.send?.({ resident, residentAfterGc, heapAfterGc } satisfies MemoryReport);
});
