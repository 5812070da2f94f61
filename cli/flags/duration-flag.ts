import { durationMs } from '../../controller/compile/duration.ts';
import type { Arguments } from '../arguments.ts';
import { UsageError } from '../usage-error.ts';

/** Reads a duration such as `30s`, `1m30s` or `0s` in milliseconds. Throws `UsageError`. */
export function readDuration(flags: Arguments, flag: string): number {
  const text = flags.text(flag) ?? '';
  if (/^([0-9]{1,5}(h|m|s|ms)){1,4}$/.test(text)) return durationMs(text);
  throw new UsageError(`--${flag}: "${text}" is not a duration such as 30s`);
}
