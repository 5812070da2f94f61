import { createInterface } from 'node:readline/promises';

import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { UsageError } from '../usage-error.ts';

/**
 * Asks whether to do something, unless `--yes` is given. Throws `UsageError` if there is no terminal to ask at:
 * a script must say that it means it.
 */
export async function confirm(
  what: string,
  flags: Arguments,
  { stderr }: Pick<CommandStreams, 'stderr'>,
): Promise<boolean> {
  if (flags.isOn('yes')) return true;
  if (!process.stdin.isTTY) {
    throw new UsageError(`${what}\n--yes is required, because there is no terminal to ask at`);
  }
  const questions = createInterface({ input: process.stdin, output: stderr });
  try {
    const answer = await questions.question(`${what}\nGo on? [y/N] `);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    questions.close();
  }
}
