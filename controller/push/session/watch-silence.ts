import type { PushTiming } from '../push-timing.ts';

/**
 * Pings, and tells when nothing was heard for too many pings.
 *
 * Counts pings and not time: a process that was stopped itself has not listened.
 */
export function watchSilence({
  timing,
  ping,
  onSilence,
}: {
  readonly timing: PushTiming;
  readonly ping: () => void;
  readonly onSilence: () => void;
}): { readonly heard: () => void; readonly stop: () => void } {
  let unanswered = 0;
  const timer = setInterval(() => {
    if (unanswered >= timing.silentPings) {
      clearInterval(timer);
      onSilence();
      return;
    }
    unanswered += 1;
    ping();
  }, timing.pingMs);
  return {
    heard: () => {
      unanswered = 0;
    },
    stop: () => clearInterval(timer),
  };
}
