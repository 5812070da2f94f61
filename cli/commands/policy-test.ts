import type { Arguments } from '../arguments.ts';
import type { CommandStreams } from '../command.ts';
import { readCaseFile } from '../policy-test/read-case-file.ts';
import { runCases } from '../policy-test/run-cases.ts';
import { testReport } from '../policy-test/test-report.ts';

/** Runs `gatehouse policy test`. Resolves with 1 if a case failed. */
export async function runPolicyTest(
  flags: Arguments,
  { environment, stdout }: CommandStreams,
): Promise<number> {
  const options = { environment, devAllowLoopback: flags.isOn('dev-allow-loopback') };
  // All files are read first: nothing runs while one has problems.
  const files = await Promise.all(flags.operands.map(readCaseFile));
  const results = [];
  for (const file of files) results.push(...(await runCases(file, options)));
  stdout.write(testReport(results));
  return results.some(({ failure }) => failure !== undefined) ? 1 : 0;
}
