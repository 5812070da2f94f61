const EXIT_INTERRUPTED = 1;

/**
 * Resolves with the first signal to terminate (SIGINT, SIGTERM, and SIGHUP of a closed terminal), so that
 * the caller can close what it opened. A second SIGINT or SIGTERM exits the process at once.
 */
export async function untilTerminated(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>();
  let isTerminating = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    // Shell and kernel each send SIGHUP for the same closed terminal.
    if (isTerminating && signal !== 'SIGHUP') process.exit(EXIT_INTERRUPTED);
    isTerminating = true;
    resolve(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onSignal);
  return promise;
}
