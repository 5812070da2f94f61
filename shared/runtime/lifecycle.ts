const EXIT_INTERRUPTED = 1;

/**
 * Resolves with the first signal to terminate (SIGINT, SIGTERM), so that the caller can close what
 * it opened. A second signal exits the process at once.
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
