const EXIT_INTERRUPTED = 1;

/**
 * Resolves with the first signal that asks the process to end (SIGINT, SIGTERM).
 *
 * The caller then closes what it opened. Who signals again does not want to wait: the process exits
 * at once.
 */
export async function untilTerminated(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let isTerminating = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (isTerminating) process.exit(EXIT_INTERRUPTED);
    isTerminating = true;
    resolve(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return promise;
}
