const MINUTE = 60_000;

/** Disposes of what a run started, and ends it, when a signal says so or it takes too long. */
export function endInTime(started: AsyncDisposable, maxMinutes: number): void {
  const end = async (why: string): Promise<void> => {
    console.error(`ended: ${why}`);
    // What is being measured fails when its parts end.
    process.on('uncaughtException', () => undefined);
    try {
      await started[Symbol.asyncDispose]();
    } finally {
      process.exit(1);
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void end(signal));
  const late = `not done after ${String(maxMinutes)} minutes`;
  setTimeout(() => void end(late), maxMinutes * MINUTE).unref();
}
