import { spawnSync } from 'node:child_process';

import { mustSkip } from '../describe-unless.ts';
import { whyMissing } from '../missing-program.ts';

const isMissing = mustSkip(whyMissing('promtool'));

/** Returns what promtool finds wrong with the text of a scrape, as `runPromtool` does. */
export function promtoolFaults(text: string): string {
  return runPromtool(['check', 'metrics'], text);
}

/**
 * Runs promtool, which checks metrics and alerts as Prometheus does. Returns what it prints if it finds something
 * wrong, otherwise an empty text: also where it is not installed.
 */
export function runPromtool(argv: readonly string[], input = ''): string {
  if (isMissing) return '';
  const { status, stdout, stderr } = spawnSync('promtool', argv, { input, encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}
