import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { TemporaryDirectory } from '../temporary-directory.ts';

const SUITE = join(
  import.meta.dirname,
  '../../../node_modules/@modelcontextprotocol/conformance/dist/index.js',
);

/** What a run of the official suite printed, and how it ended. */
export interface SuiteRun {
  readonly exitCode: number | null;
  readonly text: string;
}

/** Runs a command of the official suite, and hands each line to a function as soon as it is there. */
export async function runSuite(
  args: readonly string[],
  onLine: (line: string) => Promise<void> | void = () => undefined,
): Promise<SuiteRun> {
  await using output = await TemporaryDirectory.create();
  const isRun = args[0] !== 'list';
  const options = isRun ? ['--output-dir', output.path] : [];
  const suite = spawn(process.execPath, [SUITE, ...args, ...options]);
  suite.stderr.resume();
  const exit = new Promise<number | null>((resolve) => suite.once('close', resolve));
  let text = '';
  for await (const line of createInterface({ input: suite.stdout })) {
    text += `${line}\n`;
    await onLine(line);
  }
  return { exitCode: await exit, text };
}
